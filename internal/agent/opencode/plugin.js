// git-agent plugin 3, written by: git agent-turn init --agent opencode
//
// It calls the hooks of git-agent with payloads in the words that they know, and keeps each conversation as a
// file of JSON lines, because OpenCode has it in a database. It never throws: OpenCode would fail the prompt.
import { spawn } from "node:child_process"
import fs from "node:fs"
import path from "node:path"

const program = "opencode"
const env = process.env
const data = path.isAbsolute(env.XDG_DATA_HOME || "") ? env.XDG_DATA_HOME : env.HOME && path.join(env.HOME, ".local", "share")
const dir = data && path.join(data, "git-agent", program)
const prefix = `GIT_AGENT_${program.toUpperCase()}`
const most = 1 << 20 // characters of a text in a payload; the file has all of it
const pause = { SessionStart: 60, UserPromptSubmit: 60, PostToolUse: 10, PreCompact: 60, SessionEnd: 20 } // seconds

export const GitAgent = async ({ client, directory }) => {
  const sessions = new Map()
  const windows = new Map() // of models, in tokens
  const calls = new Map() // of tools that run: what they were given, and when
  let warned = false

  const tell = (message, variant) => {
    Promise.resolve(client.tui.showToast({ body: { title: "git-agent", message, variant } })).catch(() => {})
    Promise.resolve(client.app.log({ body: { service: "git-agent", level: variant === "warning" ? "warn" : "info", message } })).catch(() => {})
  }

  const variables = (id) => ({ [`${prefix}_PID`]: String(process.pid), [`${prefix}_SESSION`]: id })

  // hook runs a hook, tells the user what is for them, and returns what is for the model.
  const hook = async (command, s, name, more) => {
    const payload = { session_id: s.id, cwd: directory, hook_event_name: name, transcript_path: s.file, ...more }
    const out = await new Promise((done) => {
      const p = spawn(command, ["hook", "--agent", program], {
        cwd: directory, stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, ...variables(s.id) },
      })
      const timer = setTimeout(() => { p.kill("SIGKILL"); done("") }, (pause[name] || 60) * 1000)
      let out = ""
      p.stdout.setEncoding("utf8").on("data", (text) => { if (out.length < most) out += text })
      p.stdin.on("error", () => {})
      p.on("error", (e) => {
        clearTimeout(timer)
        if (!warned) tell(`turns are not recorded: ${command}: ${e.code === "ENOENT" ? "not found" : e.message}`, "warning")
        warned = true
        done("")
      })
      p.on("close", () => { clearTimeout(timer); done(out) })
      p.stdin.end(JSON.stringify(payload))
    })
    try {
      const answer = JSON.parse(out || "{}")
      if (answer.systemMessage) tell(answer.systemMessage, "info")
      return answer.hookSpecificOutput?.additionalContext || ""
    } catch {
      return ""
    }
  }

  // of returns what is known of a session. A sub-agent's has the user's session, whose sub-agent's sub-agent it may be.
  const of = async (id) => {
    if (!sessions.has(id)) {
      sessions.set(id, client.session.get({ path: { id } }).then(async ({ data }) => {
        const above = data?.parentID && (await of(data.parentID))
        const user = above && (above.user || above.id)
        return { id, user, queue: Promise.resolve(), ...opened(user ? path.join(user, id) : id) }
      }))
    }
    return sessions.get(id)
  }

  // then runs f after all that came before in the session, and returns what it returns; for a sub-agent's, it does so if it may.
  const then = async (id, f, may = () => false) => {
    try {
      const s = id && (await of(id))
      if (!s || (s.user && !may(s))) return
      const done = s.queue.then(() => f(s))
      s.queue = done.catch(() => {})
      return await done
    } catch (e) {
      if (!warned) tell(`a turn was not recorded: ${e?.message}`, "warning")
      warned = true
    }
  }

  // sync adds to the file the messages that are complete: at the end of a turn, all of them. If those
  // that the file ends with are gone, a person went back, and a new file goes on from what is left.
  // A user's message may get parts until it is answered, and a request to compact changes until that is done.
  const sync = async (s, all, compacted) => {
    if (!s.file) return
    let list, at
    for (let limit = 32; ; limit *= 8) {
      list = (await client.session.messages({ path: { id: s.id }, query: { limit } })).data || []
      at = list.findLastIndex((m) => m.info.id === s.last)
      if (at >= 0 || list.length < limit) break
    }
    if (at < 0 && s.last) {
      at = list.findLastIndex((m) => s.written.has(m.info.id))
      Object.assign(s, following(s), { last: list[at]?.info.id, written: new Set(list.slice(0, at + 1).map((m) => m.info.id)) })
      append(s.file, JSON.stringify({ after: s.last || "" }) + "\n")
    }
    const fresh = list.slice(at + 1)
    let text = ""
    for (const [i, m] of fresh.entries()) {
      if (!all && (i === fresh.length - 1 && !m.info.time.completed || i >= fresh.length - 2 && compacts(m) && !compacted)) break
      const { summary, ...info } = m.info // of a prompt, it has what the turn changed
      const window = windows.get(info.providerID + "/" + info.modelID)
      text += JSON.stringify({
        id: info.id, ...(s.queued.has(info.id) ? { queued: true } : {}), ...(window ? { window } : {}),
        info: summary === true ? { ...info, summary } : info, parts: m.parts,
      }) + "\n"
      s.written.add(info.id)
      s.last = info.id
    }
    if (text) append(s.file, text)
  }

  // beside does the same for the session's sub-agents, of which the last message may never be complete.
  const beside = async (s) => {
    for (const id of sessions.keys()) if (id !== s.id && (await of(id)).user === s.id) await then(id, (own) => sync(own, false), () => true)
  }

  // last returns the newest messages.
  const last = async (s, limit) => (await client.session.messages({ path: { id: s.id }, query: { limit } })).data || []

  // stop ends the turn: the client has nothing more to do for the prompt. If it has failed or was
  // stopped, its message says so a moment later.
  const stop = async (s) => {
    for (let i = 0; s.prompt && i < 40; i++) {
      const [m] = await last(s, 1)
      if (!m || complete(m)) break
      await new Promise((done) => setTimeout(done, 25))
    }
    await sync(s, true)
    await beside(s)
    if (!s.prompt) return
    const prompt_id = s.prompt
    const answers = (await last(s, 32)).filter((m) => m.info.role === "assistant" && m.info.id > prompt_id)
    if (!answers.length && !s.error) return // the client says twice that it has stopped: this is about the prompt before
    s.prompt = undefined
    const answer = answers.at(-1)
    const error = answer?.info.error || s.error
    s.error = undefined
    const text = said(answers.findLast(said))
    const more = { prompt_id, model: answer?.info.modelID }
    if (!error) await hook("git-agent-turn", s, "Stop", { ...more, last_assistant_message: text })
    else if (error.name === "MessageAbortedError") await hook("git-agent-turn", s, "Interrupt", more)
    else await hook("git-agent-turn", s, "StopFailure", { ...more, error: error.name, last_assistant_message: bounded(error.data?.message || error.name) })
  }

  return {
    "chat.message": ({ sessionID }, { message, parts }) => then(sessionID, async (s) => {
      if (!parts.some(typed)) return
      const context = []
      if (!s.started) {
        const before = await last(s, 1)
        s.started = true
        await sync(s, true)
        context.push(await hook("git-agent-handoff", s, "SessionStart", { source: before.length ? "resume" : "startup" }))
      } else if (s.compacted) {
        context.push(await hook("git-agent-handoff", s, "SessionStart", { source: "compact" }))
      }
      s.compacted = false
      if (s.prompt) { // it waits until the agent looks: the turn goes on with it
        s.queued.add(message.id)
      } else {
        await sync(s, true)
        s.prompt = message.id
        const prompt = parts.filter(typed).map((p) => p.text || "").join("\n")
        context.push(await hook("git-agent-turn", s, "UserPromptSubmit", { prompt: bounded(prompt), prompt_id: message.id }))
      }
      const text = context.filter(Boolean).join("\n")
      if (text) {
        const id = "prt_" + message.id.slice(4, 16) + "zzzzzzzzzzzzzz" // after those of the message, before the next
        parts.push({ id, messageID: message.id, sessionID: s.id, type: "text", text, synthetic: true })
      }
    }),

    "tool.execute.before": async ({ callID }, { args }) => {
      if (calls.size > 1000) calls.clear() // one that fails has no end
      const command = typeof args?.command === "string" ? bounded(args.command) : undefined
      calls.set(callID, { tool_input: { file_path: args?.filePath, path: args?.path, command }, git_agent_call_began: String(Date.now()) })
    },

    "tool.execute.after": ({ sessionID, tool, callID }, output) => then(sessionID, async (s) => {
      const given = calls.get(callID)
      calls.delete(callID)
      const text = await hook("git-agent-handoff", s, "PostToolUse", { tool_name: tool, tool_use_id: callID, ...given }) // without the id, the same event again
      if (text && typeof output?.output === "string") output.output += `\n\n<system-reminder>\n${text}\n</system-reminder>`
    }),

    "experimental.session.compacting": ({ sessionID }) => then(sessionID, async (s) => {
      await sync(s, false)
      const asked = (await last(s, 8)).flatMap((m) => m.parts).findLast((p) => p.type === "compaction")
      await hook("git-agent-handoff", s, "PreCompact", { trigger: asked?.auto === false ? "manual" : "auto" })
    }),

    // After a compaction the client may go on by itself: then there is no prompt to tell the agent with.
    "experimental.chat.messages.transform": async (_, { messages }) => {
      const part = messages?.flatMap((m) => m.parts).findLast((p) => p.metadata?.compaction_continue)
      if (!part) return
      await then(part.sessionID, async (s) => {
        if (s.compacted) s.told = await hook("git-agent-handoff", s, "SessionStart", { source: "compact" })
        s.compacted = false
        if (s.told) part.text += "\n\n" + s.told
      })
    },

    "chat.params": async ({ model }) => { if (model?.limit?.context) windows.set(model.providerID + "/" + model.id, model.limit.context) },

    "shell.env": async ({ sessionID: id }, output) => {
      try {
        if (id) Object.assign(output.env, variables((await of(id)).user || id))
      } catch {}
    },

    event: async ({ event }) => {
      const { sessionID, info, error } = event.properties || {}
      switch (event.type) {
        case "session.idle":
          return void (await then(sessionID, stop))
        case "session.error":
          return void (await then(sessionID, async (s) => { if (s.prompt) s.error = error }))
        case "session.compacted":
          return void (await then(sessionID, async (s) => { Object.assign(s, { compacted: true, told: "" }); await sync(s, false, true) }, () => true))
        case "message.updated":
          if (info.role !== "assistant") return
          await then(info.sessionID, async (s) => { if ((s.started || s.user) && !s.written.has(info.id)) await sync(s, false) }, () => !!info.time.completed)
      }
    },

    dispose: async () => {
      for (const id of sessions.keys()) {
        await then(id, async (s) => {
          if (!s.started) return
          await sync(s, true)
          await beside(s)
          await hook("git-agent-turn", s, "SessionEnd", { reason: "other" })
        })
      }
    },
  }
}

const complete = (m) => (m.info.role === "user" ? m.parts.length > 0 : !!m.info.time.completed)
const compacts = (m) => m.parts.some((p) => p.type === "compaction")
const typed = (p) => (p.type === "text" && !p.synthetic) || p.type === "file"
const said = (m) => m?.parts.filter((p) => p.type === "text").map((p) => bounded(p.text)).at(-1)
const bounded = (text) => (text.length > most ? text.slice(0, most) : text)

// opened finds a session's file by its name, the newest of them, and which messages are in any.
const opened = (name) => {
  const s = { name, n: 0, file: dir && path.join(dir, name + ".jsonl"), written: new Set(), queued: new Set() }
  for (let next = s; dir && fs.existsSync(next.file); next = following(s)) {
    Object.assign(s, { n: next.n, file: next.file, last: undefined })
    for (const [, id] of fs.readFileSync(s.file, "utf8").matchAll(/^\{(?:"continues":"\w*",)?"(?:after|id)":"(\w+)"/gm)) s.written.add((s.last = id))
  }
  return s
}

// following is the file in which a session goes on after this one.
const following = (s) => ({ n: s.n + 1, file: path.join(dir, `${s.name}.${s.n + 1}.jsonl`) })

const append = (file, text) => {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW = 0 } = fs.constants
  const f = fs.openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
  try { fs.writeFileSync(f, text) } finally { fs.closeSync(f) }
}
