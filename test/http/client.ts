/**
 * A client that keeps a transcript: what was asked and answered, with what differs between two right runs
 * (ids, times, tokens) replaced by names in the order of appearance.
 *
 * @module
 */

/** What a request may carry. */
export interface Ask {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is; a stream is made by a function, as it may have to be sent again. */
  readonly body?: BodyInit | (() => BodyInit)
  /**
   * The server may refuse it, and hang up, before it has read all of the body. It is then asked again, and always over
   * a connection that nothing is asked over afterwards: the server may still be closing it.
   */
  readonly refusedEarly?: true
}

/** An answer, parsed where it is JSON. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers are what the suite is there to look at
  readonly body: any
}

/** A client of one server. */
export interface Client {
  ask(method: string, path: string, ask?: Ask): Promise<Answer>
  /** Tells which check asks from here on. */
  begin(check: string): void
  /** Everything that these checks have asked and were answered, normalised. */
  transcript(checks: readonly string[]): string
}

/** The headers that the contract speaks of; the rest is the runtime's affair. */
const HEADERS = [
  'accept-query',
  'allow',
  'cache-control',
  'content-disposition',
  'content-type',
  'location',
  'vary',
  'www-authenticate',
  'x-cache',
]

/** A client of the server at `base`. */
export function client(base: string): Client {
  const entries: { readonly check: string; text: string }[] = []
  let check = ''
  const normalised = (text: string): string => {
    const names = new Map<string, string>()
    const named = (value: string) => {
      if (!names.has(value)) names.set(value, `<record ${names.size + 1}>`)
      return names.get(value) ?? value
    }
    return text
      .replaceAll(base, '')
      .replace(/"requestId":"[^"]*"/g, '"requestId":"<id>"')
      .replace(/"nextCursor":"[^"]*"/g, '"nextCursor":"<cursor>"')
      .replace(/"refreshToken":"[^"]*"/g, '"refreshToken":"<token>"')
      .replace(/("id":"|\/sessions\/)[\w-]{22}(?![\w-])/g, '$1<session>')
      .replace(/cursor=[\w-]{40,}/g, 'cursor=<cursor>')
      .replace(/\b[0-9a-f]{24}\b/g, named)
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
      .replace(/\b[0-9a-z]{10}(?:-[0-9a-z]{11})+\b/g, '<position>')
      .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>')
  }
  return {
    async ask(method, path, { headers, json, body, refusedEarly } = {}) {
      const sent = json === undefined ? body : JSON.stringify(json)
      const request = `${method} ${path}${typeof sent === 'string' ? ` ${sent.slice(0, 300)}` : ''}`
      // Its place is taken when it is asked: parallel answers come in any order.
      const entry = { check, text: '' }
      entries.push(entry)
      const isSafe = refusedEarly || ['GET', 'HEAD', 'OPTIONS', 'QUERY'].includes(method)
      const response = await answered(base + path, isSafe ? TRIES : 1, () => ({
        method,
        headers: {
          ...(json !== undefined && { 'Content-Type': 'application/json' }),
          ...(refusedEarly && { Connection: 'close' }),
          ...headers,
        },
        redirect: 'manual',
        ...(sent !== undefined && {
          body: typeof sent === 'function' ? sent() : sent,
          duplex: 'half',
        }),
      }))
      const text = await response.text()
      const shown = HEADERS.flatMap((name) => {
        const value = response.headers.get(name)
        return value === null ? [] : [`${name}: ${value}`]
      })
      // What goes by methods is random all over: its statuses are compared, and nothing else.
      const told = [request, String(response.status), ...shown, text].join('\n')
      const plain = `${method} ${path.replace(/\?.*|[\da-f]{24}/g, '')} ${response.status}`
      entry.text = path.startsWith('/ways/') ? plain : told
      const isJson = response.headers.get('content-type')?.startsWith('application/json') && text
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson ? JSON.parse(text) : undefined,
      }
    },
    begin(sentence) {
      check = sentence
    },
    transcript: (checks) =>
      normalised(
        entries
          .filter((entry) => checks.includes(entry.check))
          .map(({ text }) => text)
          .join('\n\n'),
      ),
  }
}

const TRIES = 5

/**
 * Asks again where that is safe: a server may close a kept connection at any moment (RFC 9110, 9.2.2), and one that
 * refuses a body may hang up while it is still being written, which `fetch` reports instead of the answer.
 */
async function answered(url: string, tries: number, init: () => RequestInit): Promise<Response> {
  try {
    return await fetch(url, init())
  } catch (error) {
    if (tries === 1) throw error
    return answered(url, tries - 1, init)
  }
}
