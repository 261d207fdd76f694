/**
 * The modules that `imports` of package.json chooses by runtime, as src sees them: src names what it needs, an adapter
 * of each runtime gives it (`test/types/chosen.test.ts` compares the two).
 *
 * @module
 */

declare module '#scrypt' {
  /** Hashes passwords where `createApp` is given no `hasher`. */
  export const hasher: import('./ports/hasher.ts').Hasher
  /** How many hashes may be computed at once. */
  export function slots(): number
}

declare module '#passwords' {
  /** The common passwords of at least `least` characters; undefined where the runtime does not load them by itself. */
  export function commonPasswords(least?: number): Promise<ReadonlySet<string> | undefined>
}

declare module '#contexts' {
  /** A place for the value of the code that runs now. Without an `AsyncLocalStorage` it is always empty. */
  export function asyncContext<T>(): import('./ports/async-context.ts').AsyncContext<T>
}

declare module '#response' {
  /** The class that responses are made of. */
  export const Response: {
    new (body?: BodyInit | null, init?: ResponseInit): globalThis.Response
  }
}

declare module '#smtp' {
  /** A transporter to the server that a URL or Nodemailer's options name. */
  export function smtpTransporter(
    transport: string | Readonly<Record<string, unknown>>,
  ): Promise<import('./ports/mailer.ts').MailTransporter>
}
