// witness.js - the witness's hooks in OpenCode: a plugin that tells $E2E_HOOK of a session's life in the common words, and keeps
// what the client says that the conversation is in $E2E_MESSAGES/<session>.json. Sub-agents' sessions are left out. What the
// client tells a plugin, as it is, goes to the file $E2E_EVENTS.
import { spawn } from "node:child_process"
import fs from "node:fs"
import path from "node:path"

export const Witness = async ({ client, directory }) => {
  const children = new Set(), prompts = new Map()
  let queue = Promise.resolve()
  const tell = (session, name, more = {}) => (queue = queue.then(() => new Promise((done) => {
    const p = spawn("/bin/sh", ["-c", process.env.E2E_HOOK], { cwd: directory, stdio: ["pipe", "ignore", "ignore"] })
    p.on("close", done).on("error", done)
    p.stdin.on("error", () => {}).end(JSON.stringify({ session_id: session, hook_event_name: name, cwd: directory, prompt_id: prompts.get(session), ...more }))
  })))
  const keep = async (session) => {
    const { data } = await client.session.messages({ path: { id: session } })
    const file = path.join(process.env.E2E_MESSAGES, session + ".json")
    fs.writeFileSync(file + ".new", JSON.stringify(data || []))
    fs.renameSync(file + ".new", file)
  }
  const note = (name, ...told) => {
    if (process.env.E2E_EVENTS) fs.appendFileSync(process.env.E2E_EVENTS, JSON.stringify(Object.assign({ hook_event_name: name }, ...told)) + "\n")
  }
  return {
    "tool.execute.before": async (input, output) => note("tool.execute.before", input, output),
    "tool.execute.after": async (input, output) => note("tool.execute.after", input, output),
    "chat.message": async ({ sessionID }, { message, parts }) => {
      note("chat.message", { sessionID, message, parts })
      if (children.has(sessionID)) return
      const first = !prompts.has(sessionID)
      prompts.set(sessionID, message.id)
      if (first) tell(sessionID, "SessionStart", { prompt_id: undefined })
      await tell(sessionID, "UserPromptSubmit", { prompt: parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n") })
    },
    event: async ({ event: { type, properties } }) => {
      note(type, properties)
      const session = properties?.sessionID ?? properties?.part?.sessionID ?? properties?.info?.sessionID
      if (type === "session.created" && properties.info?.parentID) children.add(session || properties.info.id)
      if (!prompts.has(session)) return
      if (properties.part?.state?.status === "running" || properties.info?.finish) await keep(session) // it may be killed there
      if (type === "session.idle") await tell(session, "Stop")
      if (type === "session.compacted") await tell(session, "PostCompact")
      if (type === "session.error") await tell(session, "StopFailure")
    },
    dispose: async () => {
      for (const session of prompts.keys()) {
        await keep(session)
        await tell(session, "SessionEnd")
      }
    },
  }
}
