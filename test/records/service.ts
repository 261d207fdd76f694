/**
 * An app in process, as the tests of the record API drive it: one call a request, one value an answer.
 *
 * @module
 */

import { onTestFinished } from 'vitest'
import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { type App, type AppOptions, createApp, type Fields, type Logger } from '../../src/index.ts'

/** A line that the app logged. */
export interface LogEntry {
  readonly level: keyof Logger
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

/** A logger that keeps its lines. */
export interface RecordedLog extends Logger {
  readonly lines: readonly LogEntry[]
  /** Everything that was logged, as one text. */
  readonly text: string
}

/** The envelope of spec 2.2. */
export interface Envelope {
  readonly success?: boolean
  readonly data?: unknown
  readonly message?: string
  readonly pagination?: unknown
  readonly error?: string
  readonly fields?: Readonly<Record<string, string>>
  readonly requestId?: string
  readonly stack?: string
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Envelope
  /** `data` of a read, create or update. */
  readonly record: Fields
  /** `data` of a list. */
  readonly records: Fields[]
}

/** A request's body and headers. */
export interface Message {
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is. */
  readonly body?: BodyInit
  readonly headers?: Record<string, string>
}

/** An app with its log, its clock and a short way to call it. */
export interface Service {
  readonly app: App
  readonly log: RecordedLog
  /** The app's time in epoch milliseconds; tests set it. */
  readonly clock: { at: number }
  send(method: string, path: string, message?: Message): Promise<Answer>
}

/** The clock's first moment: 2024-03-01T12:00:00.000Z. */
export const NOON: number = Date.UTC(2024, 2, 1, 12)

/** An app on an empty store, closed with the test. */
export function service(options: Partial<AppOptions> = {}): Service {
  const log = recordedLog()
  const clock = { at: NOON }
  const app = createApp({
    store: sqliteStore(),
    logger: log,
    now: () => clock.at,
    env: {},
    ...options,
  })
  onTestFinished(() => app.close())
  return {
    app,
    log,
    clock,
    send: async (method, path, message = {}) =>
      answerOf(await app.handle(request(method, path, message))),
  }
}

/** A request to `path`, JSON where `json` is given. */
export function request(method: string, path: string, message: Message = {}): Request {
  const { json, body, headers } = message
  const isJson = json !== undefined
  return new Request(`http://localhost${path}`, {
    method,
    headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
    ...((isJson || body !== undefined) && {
      body: isJson ? JSON.stringify(json) : body,
      duplex: 'half',
    }),
  } as RequestInit)
}

/** Reads a response to its end. */
export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('/json') === true && text !== ''
  const body = (isJson ? JSON.parse(text) : {}) as Envelope
  return {
    status: response.status,
    headers: response.headers,
    text,
    body,
    get record() {
      return body.data as Fields
    },
    get records() {
      return body.data as Fields[]
    },
  }
}

/** What start-up says of most apps here, which nothing guards. */
const OPEN = /^Anyone can create, change and delete records at /

/** A logger that keeps its lines, but for that of open routers. */
export function recordedLog(): RecordedLog {
  const lines: LogEntry[] = []
  const line =
    (level: keyof Logger) =>
    (message: string, details: Readonly<Record<string, unknown>> = {}): void => {
      if (!OPEN.test(message)) lines.push({ level, message, details })
    }
  return {
    lines,
    get text() {
      return lines.map((entry) => JSON.stringify(entry)).join('\n')
    },
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
  }
}
