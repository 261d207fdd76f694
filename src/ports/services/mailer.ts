/** The mailer port, as auth uses it to deliver codes. */

/** A mail ready to send. */
export interface MailMessage {
  readonly from?: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
}

/** Sends mail; Nodemailer's transporter fits as it is. Rejects if the mail was not accepted. */
export interface MailTransporter {
  sendMail(message: MailMessage): Promise<unknown>
  /** Resolves if the server can be reached and accepts the login; rejects if not. */
  verify?(): Promise<unknown>
}
