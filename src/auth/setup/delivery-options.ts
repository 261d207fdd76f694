/** How one-time codes reach a user: the options of `otp`, `mail` and `sms`. */

import type { ApiRequest } from '../../http/request/request.ts'
import type { Managed } from '../../model/model.ts'
import type { MailTransporter } from '../../ports/services/mailer.ts'
import type { Fields } from '../../ports/store/records.ts'

/** The purposes of messages that can also be an SMS. */
export const SMS_PURPOSES = ['passwordReset', 'emailVerification', 'identifierChanged'] as const

/** The purposes of messages. */
export const PURPOSES = [
  'passwordReset',
  'emailVerification',
  'signInCode',
  'identifierChanged',
  'passwordChanged',
  'providerLinked',
  'providerUnlinked',
  'factorAdded',
  'factorRemoved',
  'newClient',
] as const

/** What the owner of an account is told of. */
export const NOTICES = ['password', 'provider', 'factor', 'newClient', 'address'] as const

/**
 * A kind of notice: of a new password, of a provider that was linked or unlinked, of a factor that was added or removed,
 * of a sign-in by a client that the account did not know, of a changed address (to the old one).
 */
export type NoticeKind = (typeof NOTICES)[number]

/** How a code is sent. */
export type Channel = 'email' | 'sms'

/** A user's record without its secrets. */
export type ShownUser = Fields & Managed

/**
 * What a message is for: a code that resets the password, proves a mailbox or signs in, or a notice, which has no code.
 * That an identifier was changed is told to the old address.
 */
export type MessagePurpose = (typeof PURPOSES)[number]

/** The argument of every sender. */
export interface CodeMessage {
  /** The address or number to send to. */
  readonly to: string
  /** The finished plain text. */
  readonly text: string
  readonly user: ShownUser
  readonly purpose: MessagePurpose
  /** The code; empty in a notice. */
  readonly code: string
  /** The request that caused the message. Not enumerable: copies and JSON leave it out. */
  readonly request: ApiRequest
}

/** The argument of a template function. */
export interface TemplateValues {
  readonly code: string
  /** How long the code is valid, in minutes. */
  readonly minutes: number
  readonly appName: string
  /** When it happened, such as `2030-01-01 12:00 UTC`. */
  readonly time: string
  /** The client that did it, by the `client` option: its address. */
  readonly client: string
  /** The provider's name, in notices of a provider; otherwise empty. */
  readonly provider: string
  readonly user: ShownUser
}

/**
 * A mail's subject and bodies; `{{code}}`, `{{minutes}}`, `{{appName}}`, `{{time}}`, `{{client}}`, `{{provider}}` and
 * `{{user.<field>}}` are filled in.
 */
export interface MailTemplate {
  readonly subject?: string
  readonly text?: string
  readonly html?: string
}

/** What `mail.sender` gets. */
export interface SentMail
  extends Pick<CodeMessage, 'to' | 'text' | 'code'>,
    Partial<Pick<CodeMessage, 'user' | 'purpose' | 'request'>> {
  readonly subject: string
  readonly html?: string
}

/** Mail: set one of `sender`, `transporter` and `transport`. */
export interface MailOptions {
  /** Nodemailer's transporter, or any object with its `sendMail`. */
  readonly transporter?: MailTransporter
  /**
   * Sends the finished message. Throw or reject if it could not be sent. A mail of your own, by `auth.mail.send`, has no
   * `user`, `purpose` and `request`, and an empty `code`.
   */
  sender?(message: SentMail): unknown
  /**
   * A URL (`smtps://user:pass@host`) or Nodemailer's options, on runtimes that have sockets. Default: the variables
   * `SMTP_URL`, or `SMTP_HOST` and its companions.
   */
  readonly transport?: string | Readonly<Record<string, unknown>>
  /** The sender's address. Default: the variable `MAIL_FROM`. */
  readonly from?: string
  /** The field with the address. Default: the e-mail field. */
  readonly toField?: string
  /** Templates by purpose. A function, async or not, returns the finished subject and bodies. */
  readonly templates?: {
    readonly [Purpose in MessagePurpose]?:
      | MailTemplate
      | ((values: TemplateValues) => MailTemplate | Promise<MailTemplate>)
  }
}

/** Codes by SMS. */
export interface SmsOptions {
  /** Sends the finished message. Throw or reject if it could not be sent. */
  sender(message: CodeMessage): unknown
  /** The field with the number. Default: the phone field. */
  readonly toField?: string
  /** Templates by purpose. A function, async or not, returns the finished text. */
  readonly templates?: {
    readonly [Purpose in (typeof SMS_PURPOSES)[number]]?:
      | string
      | ((values: TemplateValues) => string | Promise<string>)
  }
}

/** One-time codes. */
export interface OtpOptions {
  /** The number of digits. Default 6, from 4 to 12. */
  readonly length?: number
  /** How long a code is valid, in seconds. Default 600, at most a day. */
  readonly ttlSeconds?: number
  /** The number of wrong tries that end a code. Default 5, at most 100. */
  readonly maxAttempts?: number
  /**
   * The pause between two codes to one account by one channel, in seconds. Within it, a repeated request sends nothing
   * and gets the usual response. Default 60; 0 sends one for each request.
   */
  readonly resendSeconds?: number
  /**
   * Replaces `mail` and `sms`. Send to the e-mail or phone field of the user: `social.linking` does not drop addresses
   * in other fields.
   */
  deliver?(message: {
    readonly user: ShownUser
    readonly code: string
    readonly channel: Channel
    readonly purpose: MessagePurpose
    /** The address to send to. If an address was changed, it is the old one. */
    readonly to: string
    /** Not enumerable: copies and JSON leave it out. */
    readonly request: ApiRequest
  }): unknown
}

/**
 * Throw it in a sender if the address or number is the reason why a message could not be sent: it does not exist, is
 * blocked, or is refused. Such a failure says nothing about other recipients.
 *
 * ```ts
 * async function send(to: string, text: string): Promise<void> {
 *   const response = await fetch('https://sms.example.com/send', { method: 'POST', body: JSON.stringify({ to, text }) })
 *   if (response.status === 422) throw new BadRecipient('the service refused the number')
 *   if (!response.ok) throw new Error(`the service responded ${response.status}`)
 * }
 * ```
 */
export class BadRecipient extends Error {
  override readonly name = 'BadRecipient'

  constructor(message = 'the recipient was refused', options?: ErrorOptions) {
    super(message, options)
  }
}
