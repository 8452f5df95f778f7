// git-agent plugin 1, written by: git agent-turn init --agent pi
//
// It calls the hooks of git-agent with payloads in the words that they know. It never throws, and keeps pi waiting no
// longer than is written below.
import { spawn } from "node:child_process"

const most = 1 << 20 // characters of a text in a payload; the file has all of it
const pause = { SessionStart: 60, UserPromptSubmit: 60, PostToolUse: 10, PreCompact: 60, SessionEnd: 20 } // seconds

export default function (pi) {
  let source = "startup"
  let started = false // the agent has been told of the session's start
  let compacted = false // it has not been told since
  let told = "" // after a compaction, without a prompt
  let warned = false
  let queue = Promise.resolve()
  const calls = new Map() // when tools began

  const say = (ctx, message, type) => {
    try {
      if (ctx.hasUI) ctx.ui.notify(message, type)
      else console.error(message)
    } catch {}
  }

  const warn = (ctx, message) => {
    if (!warned) say(ctx, "git-agent: " + message, "warning")
    warned = true
  }

  // hook runs a hook, tells the user what is for them, and returns what is for the model.
  const hook = async (ctx, program, name, more) => {
    const session_id = ctx.sessionManager.getSessionId()
    const payload = { session_id, cwd: ctx.cwd, hook_event_name: name, transcript_path: ctx.sessionManager.getSessionFile(), ...more }
    const out = await new Promise((done) => {
      const p = spawn(program, ["hook", "--agent", "pi"], {
        cwd: ctx.cwd, stdio: ["pipe", "pipe", "ignore"],
        env: { ...process.env, PI_SESSION_ID: session_id, GIT_AGENT_PI_PID: String(process.pid) },
      })
      const timer = setTimeout(() => { p.kill("SIGKILL"); done("") }, (pause[name] || 60) * 1000)
      let out = ""
      p.stdout.setEncoding("utf8").on("data", (text) => { if (out.length < most) out += text })
      p.stdin.on("error", () => {})
      p.on("error", (e) => {
        clearTimeout(timer)
        warn(ctx, `turns are not recorded: ${program}: ${e.code === "ENOENT" ? "not found" : e.message}`)
        done("")
      })
      p.on("close", () => { clearTimeout(timer); done(out) })
      p.stdin.end(JSON.stringify(payload))
    })
    try {
      const answer = JSON.parse(out || "{}")
      if (answer.systemMessage) say(ctx, answer.systemMessage, "info")
      return answer.hookSpecificOutput?.additionalContext || ""
    } catch {
      return ""
    }
  }

  // on handles an event after all that came before, and returns what f does. A session without a file is none: the
  // user wants nothing kept of it, or it is an extension's agent, whose work is its parent's.
  const on = (name, f) => pi.on(name, async (event, ctx) => {
    try {
      if (!ctx.sessionManager.getSessionFile()) return
      if (!/^[A-Za-z0-9][\w-]{0,127}$/.test(ctx.sessionManager.getSessionId())) {
        return warn(ctx, "turns are not recorded: the session's id has other characters than letters, digits, - and _")
      }
      const done = queue.then(() => f(event, ctx))
      queue = done.catch(() => {})
      return await done
    } catch (e) {
      warn(ctx, `a turn was not recorded: ${e?.message}`)
    }
  })

  const begin = (ctx, source) => hook(ctx, "git-agent-handoff", "SessionStart", { source })

  on("session_start", ({ reason }, ctx) => {
    const before = ctx.sessionManager.getEntries().some((e) => e.type === "message")
    source = { new: "clear", fork: "fork" }[reason] || (before ? "resume" : "startup")
    started = reason === "reload" && before
  })

  on("before_agent_start", async ({ messageType, prompt }, ctx) => {
    if (messageType === "custom") return // an extension's words, and no prompt
    const context = [told]
    if (!started) context.push(await begin(ctx, source))
    else if (compacted) context.push(await begin(ctx, "compact"))
    started = true
    compacted = false
    told = ""
    context.push(await hook(ctx, "git-agent-turn", "UserPromptSubmit", { prompt: bounded(prompt || "") }))
    const content = context.filter(Boolean).join("\n")
    if (content) return { message: message(content) }
  })

  pi.on("tool_execution_start", ({ toolCallId }) => {
    if (calls.size > 1000) calls.clear() // one that does not run has no result
    calls.set(toolCallId, Date.now())
  })

  on("tool_result", async ({ toolName, toolCallId, input, content, structuredContent }, ctx) => {
    const began = calls.get(toolCallId)
    calls.delete(toolCallId)
    const text = await hook(ctx, "git-agent-handoff", "PostToolUse", {
      tool_name: toolName, tool_use_id: toolCallId, // without the id, the same event again
      tool_input: { path: input?.path, command: typeof input?.command === "string" ? bounded(input.command) : undefined },
      git_agent_call_began: began && String(began), git_agent_window: String(ctx.getContextUsage()?.contextWindow || ""),
    })
    if (!text) return
    return { content: [...content, { type: "text", text: reminder(text) }], structuredContent }
  })

  on("session_before_compact", async ({ reason }, ctx) => {
    await hook(ctx, "git-agent-handoff", "PreCompact", { trigger: reason === "manual" ? "manual" : "auto" })
  })

  on("session_compact", () => {
    compacted = true
    told = ""
  })

  // After a compaction the client may go on by itself: then there is no prompt to tell the agent with.
  on("context", async ({ messages }, ctx) => {
    if (compacted) told = await begin(ctx, "compact")
    compacted = false
    if (!told) return
    const at = messages.findIndex((m) => m.role === "compactionSummary") + 1
    return { messages: [...messages.slice(0, at), { role: "custom", timestamp: 0, ...message(told) }, ...messages.slice(at)] }
  })

  // The client has nothing more to do for the prompt.
  on("agent_settled", async ({ aborted }, ctx) => {
    let prompt_id, answer, said
    let last = 0 // when the agent's last message was stored: what a person sent before has waited, and begins no turn
    for (const { type, id, timestamp, message: m } of ctx.sessionManager.getBranch()) {
      if (type !== "message") continue
      if (m.role === "user" && !(m.timestamp < last)) [prompt_id, answer, said] = [id]
      if (m.role === "assistant" || m.role === "toolResult") last = Date.parse(timestamp)
      if (m.role !== "assistant") continue
      answer = m
      const texts = m.content.filter((p) => p.type === "text").map((p) => p.text)
      if (texts.length) said = texts.join("\n")
    }
    if (!prompt_id) return
    const more = { prompt_id, model: answer?.model }
    const failed = answer?.stopReason === "error"
    if (aborted || answer?.stopReason === "aborted" || !answer) await hook(ctx, "git-agent-turn", "Interrupt", more)
    else if (failed) await hook(ctx, "git-agent-turn", "StopFailure", { ...more, error: "error", last_assistant_message: bounded(answer.errorMessage || "error") })
    else await hook(ctx, "git-agent-turn", "Stop", { ...more, last_assistant_message: said && bounded(said) })
  })

  on("session_shutdown", async ({ reason }, ctx) => {
    if (!started || reason === "reload") return
    await hook(ctx, "git-agent-turn", "SessionEnd", { reason: reason === "new" ? "clear" : "other" })
  })
}

const reminder = (text) => `<system-reminder>\n${text}\n</system-reminder>`
const message = (text) => ({ customType: "git-agent", content: reminder(text), display: false }) // pi sends it as the user's
const bounded = (text) => (text.length > most ? text.slice(0, most) : text)
