/**
 * How a sender says that a message failed because of its recipient alone.
 *
 * @module
 */

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
