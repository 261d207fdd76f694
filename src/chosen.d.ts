/**
 * The modules that `imports` in package.json chooses by runtime, as src sees them: src declares what it needs, and an
 * adapter for each runtime provides it (`test/types/chosen.test.ts` compares the two).
 *
 * @module
 */

declare module '#scrypt' {
  /** Hashes passwords unless `createApp` is given a `hasher`. */
  export const hasher: import('./ports/hasher.ts').Hasher
  /** How many hashes may be computed at once. */
  export function slots(): number
}

declare module '#hmac' {
  /** The HMAC-SHA-256 of strings, in UTF-8, under `key`, as hexadecimal digits. */
  export function hmacUnder(key: Uint8Array): (text: string) => string
}

declare module '#passwords' {
  /** The common passwords with at least `least` characters; undefined if the runtime does not load them by itself. */
  export function commonPasswords(least?: number): Promise<ReadonlySet<string> | undefined>
}

declare module '#contexts' {
  /** A context for a value of the running code. Without `AsyncLocalStorage` it is always empty. */
  export function asyncContext<T>(): import('./ports/async-context.ts').AsyncContext<T>
}

declare module '#response' {
  /** The class that responses are made of. */
  export const Response: {
    new (body?: BodyInit | null, init?: ResponseInit): globalThis.Response
  }
}

declare module '#smtp' {
  /** A transporter for the server given by a URL or by Nodemailer's options. */
  export function smtpTransporter(
    transport: string | Readonly<Record<string, unknown>>,
  ): Promise<import('./ports/mailer.ts').MailTransporter>
}

declare module '#reference' {
  /** The script of the reference page; undefined if it is not installed, or the runtime cannot read it. */
  export function referenceScript(): Promise<
    import('./ports/reference-script.ts').ReferenceScript | undefined
  >
}
