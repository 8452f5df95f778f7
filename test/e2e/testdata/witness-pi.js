// witness-pi.js - the witness's hooks in pi: an extension that tells $E2E_HOOK of a session's life in the common words.
import { spawn } from "node:child_process"

export default function (pi) {
  const on = (name, f) => pi.on(name, async (event, ctx) => {
    const told = f(event, ctx)
    if (!told) return
    await new Promise((done) => {
      const p = spawn("/bin/sh", ["-c", process.env.E2E_HOOK], { cwd: ctx.cwd, stdio: ["pipe", "ignore", "ignore"] })
      p.on("close", done).on("error", done)
      p.stdin.on("error", () => {}).end(JSON.stringify({ session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, ...told }))
    })
  })
  on("session_start", () => ({ hook_event_name: "SessionStart" }))
  on("before_agent_start", ({ prompt }) => ({ hook_event_name: "UserPromptSubmit", prompt }))
  on("session_compact", () => ({ hook_event_name: "PostCompact" }))
  on("agent_settled", ({ aborted }, ctx) => {
    const last = ctx.sessionManager.getBranch().findLast((e) => e.type === "message" && e.message.role === "assistant")
    const name = aborted ? "Interrupt" : last?.message.stopReason === "error" ? "StopFailure" : "Stop"
    return { hook_event_name: name }
  })
  on("session_shutdown", ({ reason }) => ({ hook_event_name: "SessionEnd", reason }))
}
