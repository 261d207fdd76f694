/** Signatures of Standard Webhooks 1.0.0. */

import { macUnder } from '#hmac'

/** One secret, or the new and the old one while they are replaced. */
export type WebhookSecret = string | readonly [string, string]

const PREFIX = 'whsec_'
const LEAST_BYTES = 24
const MOST_BYTES = 64

/** The bytes of a secret; undefined if it is none. */
function keyOf(secret: unknown): Uint8Array | undefined {
  if (typeof secret !== 'string' || !secret.startsWith(PREFIX)) return undefined
  try {
    const key = Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0))
    return key.length >= LEAST_BYTES && key.length <= MOST_BYTES ? key : undefined
  } catch {
    return undefined
  }
}

/** What is wrong with a secret; undefined if nothing is. It does not show the secret. */
export function wrongSecret(secret: unknown): string | undefined {
  const all = Array.isArray(secret) ? secret : [secret]
  if (all.length > 0 && all.length <= 2 && all.every(keyOf)) return undefined
  return `'secret' must be '${PREFIX}' and ${LEAST_BYTES} to ${MOST_BYTES} random bytes in base64, or a list of two such while one replaces the other`
}

export function signedHeaders(
  secret: WebhookSecret,
  id: string,
  seconds: number,
  body: string,
): Record<string, string> {
  const signatures = [secret].flat().map((one) => {
    const mac = macUnder(keyOf(one) as Uint8Array)(`${id}.${seconds}.${body}`)
    return `v1,${btoa(String.fromCharCode(...mac))}`
  })
  return {
    'content-type': 'application/json',
    'user-agent': 'fieldgate-webhooks',
    'webhook-id': id,
    'webhook-timestamp': `${seconds}`,
    'webhook-signature': signatures.join(' '),
  }
}
