/**
 * The modules that `imports` in package.json chooses by runtime, as src sees them: src declares what it needs, and an
 * adapter for each runtime provides it (`test/types/chosen.test.ts` compares the two).
 */

declare module '#scrypt' {
  /** Hashes passwords unless `createApp` is given a `hasher`. */
  export const hasher: import('./ports/services/hasher.ts').Hasher
  /** How many hashes may be computed at once. */
  export function slots(): number
}

declare module '#hmac' {
  /** The SHA-256 of bytes, or of a string in UTF-8. */
  export function digestOf(data: string | Uint8Array): Uint8Array
  /** The same in hexadecimal. */
  export function hexDigestOf(data: string | Uint8Array): string
  /** The HMAC-SHA-256 of strings, in UTF-8, under `key`. */
  export function macUnder(key: Uint8Array): (text: string) => Uint8Array
  /** The same in hexadecimal. */
  export function textMacUnder(
    key: Uint8Array,
    spelled: 'hex' | 'base64url',
  ): (text: string) => string
}

declare module '#passwords' {
  /** The common passwords with at least `least` characters; undefined if the runtime does not load them by itself. */
  export function commonPasswords(least?: number): Promise<ReadonlySet<string> | undefined>
}

declare module '#contexts' {
  /** A context for a value of the running code. Without `AsyncLocalStorage` it is always empty. */
  export function asyncContext<T>(): import('./ports/services/async-context.ts').AsyncContext<T>
  /** Runs what no request is about. */
  export function outside<R>(work: () => R): R
}

declare module '#response' {
  /** The class that responses are made of: of a string, of nothing, or of what `bodyOf` gives. */
  export const Response: {
    new (
      body: BodyInit | null,
      init: { readonly status?: number; readonly headers: Record<string, string> },
    ): globalThis.Response
  }
  /** What that class is given for such a body. */
  export function bodyOf(body: import('./ports/services/piped-body.ts').PipedBody): BodyInit
  /** Whether clients get contents with the name of their coding. */
  export const sendsCodings: boolean
  /** The names of the codings that `fetch` undoes. */
  export const UNDONE: RegExp
}

declare module '#outbound' {
  /**
   * Sends a POST to a server that users name and resolves to the status of its response. Follows no redirects. Where the
   * runtime has sockets, connects only to addresses that `mayConnect` lets through; without it, to any.
   */
  export function post(
    url: URL,
    request: {
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
      readonly signal: AbortSignal
      readonly mayConnect: ((address: string) => boolean) | undefined
    },
  ): Promise<number>
}

declare module '#compression' {
  /** The content codings that the runtime can make, the preferred one first. */
  export const codings: readonly string[]
  /** `body` in a coding of `codings`. */
  export function compressed(
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    coding: string,
  ): ReadableStream<Uint8Array<ArrayBuffer>>
  /** The same of bytes that are there, where the runtime can. */
  export const compressedAtOnce:
    | ((bytes: Uint8Array<ArrayBuffer>, coding: string) => Uint8Array<ArrayBuffer>)
    | undefined
}

declare module '#processes' {
  /** Whether this process is a worker: the first process of `serve(app, { processes })` has started it. */
  export const isWorker: boolean
  /** Questions named `name`, which workers ask the first process. The name means the same in all processes. */
  export function topic<Question, Answer>(
    name: string,
  ): import('./ports/services/processes.ts').Topic<Question, Answer>
  /** Whether the first process has the same secret. True in that process, which must call this before there are workers. */
  export function isSecretOfAll(secret: string): Promise<boolean>
  /**
   * Adds one to the count under `key`, which all processes share, and resolves to the sum. It is kept for at least
   * `ttlSeconds`. Undefined where there is one process.
   */
  export const countOfAll: ((key: string, ttlSeconds: number) => Promise<number>) | undefined
}

declare module '#smtp' {
  /** A transporter for the server given by a URL or by Nodemailer's options. */
  export function smtpTransporter(
    transport: string | Readonly<Record<string, unknown>>,
  ): Promise<import('./ports/services/mailer.ts').MailTransporter>
}

declare module '#uploads' {
  /** Loads the code that takes uploads. Undefined where only file stores that bring it have it. */
  export const uploads: (() => Promise<import('./uploads/taking.ts').UploadCode>) | undefined
}

declare module '#reference' {
  /** The script of the reference page; undefined if it is not installed, or the runtime cannot read it. */
  export function referenceScript(): Promise<
    import('./ports/services/reference-script.ts').ReferenceScript | undefined
  >
}
