/**
 * Requests to servers that users name, by `fetch` alone. On Cloudflare Workers it reaches public addresses only.
 *
 * @module
 */

/** Sends a POST and resolves to the status of its response. Follows no redirects. */
export async function post(
  url: URL,
  { headers, body, signal }: Pick<RequestInit, 'headers' | 'body' | 'signal'>,
): Promise<number> {
  const response = await fetch(url, {
    ...{ method: 'POST', redirect: 'manual', headers, body, signal },
  } as RequestInit)
  await response.body?.cancel()
  return response.status
}
