// undo.mjs - drives the plugin for OpenCode as its client does, without the client: node undo.mjs DIRECTORY STEP...
// A step is "ask X" (a prompt X and its answer), "steer X Y" (a prompt X, and Y while the agent works), "repeat X" (a prompt X
// that is too long: the client compacts and repeats it), "compact" (all but the last turn), "undo", "redo", or "restart".
import { GitAgent } from "./plugin.mjs" // a copy beside this one
const [directory, ...steps] = process.argv.slice(2)
const session = "ses_00000000000000000000000001"
let list = [], back, count = 0 // messages, how many of them are left by undo, and ever
const client = {
  tui: { showToast: async () => {} }, app: { log: async () => {} },
  session: { get: async () => ({ data: {} }), messages: async ({ query }) => ({ data: list.slice(-query.limit) }) },
}
const message = (role, info, ...parts) => {
  const id = "msg_" + String(++count).padStart(26, "0"), time = { created: Date.now(), ...(role === "assistant" ? { completed: Date.now() } : {}) }
  return { info: { id, sessionID: session, role, time, ...info }, parts }
}
const user = (text) => message("user", {}, { type: "text", text })
const answer = (text, info = {}) => list.push(message("assistant", { modelID: "m", providerID: "p", tokens: { input: 1, output: 1, cache: {} }, finish: "stop", ...info }, { type: "text", text }))
let plugin = await GitAgent({ client, directory })
const submit = async (m) => {
  if (back !== undefined) list = list.slice(0, back) // the client forgets what was undone when something is said
  back = undefined
  await plugin["chat.message"]({ sessionID: session }, { message: m.info, parts: m.parts })
  list.push(m)
}
const idle = () => plugin.event({ event: { type: "session.idle", properties: { sessionID: session } } })
for (const step of steps) {
  const [what, first, second] = step.split(" ")
  switch (what) {
    case "ask":
      await submit(user(first)); answer("A" + first); await idle(); break
    case "steer":
      await submit(user(first)); answer("A" + first); await submit(user(second)); answer("A" + second); await idle(); break
    case "repeat":
      await submit(user(first))
      list.push(message("user", {}, { type: "compaction", auto: true, overflow: true }))
      answer("so far", { summary: true })
      list.push(user(first)); answer("A" + first); await idle(); break
    case "compact": {
      const request = message("user", {}, { type: "compaction", auto: false })
      const tail = list.findLast((m) => m.info.role === "user")
      list.push(request)
      await plugin["experimental.session.compacting"]({ sessionID: session })
      answer("so far", { summary: true })
      await plugin.event({ event: { type: "message.updated", properties: { info: list.at(-1).info } } })
      list[list.indexOf(request)] = { ...request, parts: [{ ...request.parts[0], tail_start_id: tail.info.id }] }
      await plugin.event({ event: { type: "session.compacted", properties: { sessionID: session } } })
      break
    }
    case "undo":
      back = list.slice(0, back).findLastIndex((m) => m.info.role === "user"); break
    case "redo":
      back = undefined; break
    case "restart":
      await plugin.dispose(); plugin = await GitAgent({ client, directory }); break
    default:
      throw new Error("unknown step " + step)
  }
}
await plugin.dispose()
