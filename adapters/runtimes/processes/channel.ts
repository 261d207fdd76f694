/**
 * The channel between the processes of `serve(app, { processes })`: questions of the workers, answers of the first
 * process. Questions of one turn of the event loop leave together, and so do answers.
 *
 * Nothing is imported from a runtime: the module is loaded everywhere, and does nothing where there is one process.
 */

import type { Topic } from '../../../src/ports/services/processes.ts'

/** The variable that makes a process a worker; its value is the port that it listens on. */
export const WORKER_VARIABLE = 'FIELDGATE_WORKER'

export interface FromWorker {
  readonly fieldgate: {
    readonly asks?: readonly Ask[]
    /** It accepts requests at this address. */
    readonly url?: string
    /** It could not start, and ends. */
    readonly failure?: Failure
  }
}

export interface ToWorker {
  readonly fieldgate: {
    readonly answers?: readonly Answer[]
    /** Finish and end. */
    readonly close?: true
  }
}

type Ask = readonly [id: number, topic: string, question: unknown]
/** Without a failure, `answer` is that of the topic. */
type Answer = readonly [id: number, answer: unknown, failure?: string]

export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  readonly code?: unknown
}

/** The part of `process` that a worker uses. */
interface WorkerProcess {
  readonly env?: Record<string, string | undefined>
  send?(message: FromWorker, handle: undefined, options: undefined, sent: () => void): unknown
  on(event: 'message', listener: (message: unknown) => void): unknown
  on(event: 'disconnect', listener: () => void): unknown
  exit(code: number): never
  readonly ppid?: number
}

/** How often a worker looks whether the first process is there, in milliseconds. */
const ALIVE_MS = 1000

const { process: own } = globalThis as { readonly process?: WorkerProcess }
const given = own?.send && own.env?.[WORKER_VARIABLE]

/** Whether this process is a worker: the first process has started it to serve requests. */
export const isWorker: boolean = given !== undefined

export const workerPort: number = Number(given)

/** Tells the first process; resolves when it is told, or can't be. */
export function tellFirst(content: FromWorker['fieldgate']): Promise<void> {
  return new Promise((resolve) =>
    own?.send?.({ fieldgate: content }, undefined, undefined, resolve),
  )
}

const closed = Promise.withResolvers<void>()

export const toldToClose: Promise<void> = closed.promise

const replies = new Map<string, (question: never) => unknown>()
const open = new Map<number, { resolve(answer: never): void; reject(reason: Error): void }>()
let lastId = 0
let leaving: Ask[] = []

/** Questions named `name`, which means the same in all processes of an app. */
export function topic<Question, Reply>(name: string): Topic<Question, Reply> {
  return {
    ask: (question) =>
      new Promise<Reply>((resolve, reject) => {
        lastId += 1
        open.set(lastId, { resolve, reject })
        if (leaving.push([lastId, name, question]) === 1) setImmediate(sendAsks)
      }),
    answer: (reply) => void replies.set(name, reply),
  }
}

function sendAsks(): void {
  const asks = leaving
  leaving = []
  void tellFirst({ asks })
}

/** Answers `asks` of a worker; `send` takes the answers to it. */
export function answerAsks(asks: readonly Ask[], send: (message: ToWorker) => void): void {
  let answers: Answer[] = []
  const settle = (answer: Answer) => {
    if (answers.push(answer) > 1) return
    setImmediate(() => {
      send({ fieldgate: { answers } })
      answers = []
    })
  }
  for (const [id, name, question] of asks) {
    replyTo(name, question).then(
      (answer) => settle([id, answer]),
      (error: unknown) => settle([id, null, String(error)]),
    )
  }
}

async function replyTo(name: string, question: unknown): Promise<unknown> {
  const reply = replies.get(name)
  if (!reply) throw new Error(`the first process of the app knows nothing of '${name}'`)
  return reply(question as never)
}

/** The content of a message, if it is one of these: programs may send their own. */
export function contentOf<Message extends FromWorker | ToWorker>(
  message: unknown,
): Partial<Message['fieldgate']> {
  return (message as Partial<Message> | null)?.fieldgate ?? {}
}

function heard(message: unknown): void {
  const { answers = [], close } = contentOf<ToWorker>(message)
  for (const [id, answer, failure] of answers) {
    const waiting = open.get(id)
    open.delete(id)
    if (failure === undefined) waiting?.resolve(answer as never)
    else waiting?.reject(new Error(failure))
  }
  if (close) closed.resolve()
}

if (own?.env && isWorker) {
  // Programs that a worker starts are no workers.
  delete own.env[WORKER_VARIABLE]
  own.on('message', heard)
  // Without the first process, nothing would end or replace this one. Deno does not always tell that it has gone (2.9).
  const { ppid } = own
  own.on('disconnect', () => own.exit(1))
  setInterval(() => {
    if (own.ppid !== ppid) own.exit(1)
  }, ALIVE_MS)
}
