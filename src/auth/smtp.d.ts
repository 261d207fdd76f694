// What `#smtp` of package.json's imports gives, on every runtime.
declare module '#smtp' {
  export function smtpTransporter(
    transport: string | Readonly<Record<string, unknown>>,
  ): Promise<import('../ports/mailer.ts').MailTransporter>
}
