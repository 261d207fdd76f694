/**
 * The headers that guards of operations add to the response of a batch: each once, with the last value.
 *
 * @module
 */

/** Lists whose items say different things: a policy, or the name of a header. */
const LISTS: ReadonlySet<string> = new Set(['ratelimit', 'ratelimit-policy', 'vary'])

/** Adds what an operation would have sent alone to the headers of the batch. */
export function addHeaders(all: Headers, own: Headers): void {
  const cookies = new Map(all.getSetCookie().map((cookie) => [nameIn(cookie), cookie]))
  for (const cookie of own.getSetCookie()) cookies.set(nameIn(cookie), cookie)
  for (const [name, value] of own) {
    const before = all.get(name)
    if (name === 'set-cookie') continue
    all.set(name, LISTS.has(name) && before !== null ? withItems(before, value) : value)
  }
  all.delete('set-cookie')
  for (const cookie of cookies.values()) all.append('set-cookie', cookie)
}

/** Both lists as one, in which later items replace earlier ones of the same name. */
function withItems(before: string, value: string): string {
  const items = new Map<string, string>()
  for (const item of `${before},${value}`.split(',')) items.set(nameIn(item), item.trim())
  return [...items.values()].join(', ')
}

/** What comes before the parameters of an item, or the value of a cookie. */
function nameIn(item: string): string {
  return item.split(/[;=]/, 1)[0]?.trim().toLowerCase() ?? ''
}
