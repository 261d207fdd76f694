/**
 * An agent without a language model: a script plays one. The loop is what agents have in common: it calls the tool that the
 * player names, and gives it the result, until the player has an answer.
 *
 * @module
 */

/** A tool, and what to call it with. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** What a tool says: the records that it returns, or an error. */
export interface ToolResult {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: what a tool returns depends on its arguments.
  readonly structuredContent: any
}

/** Decides what is done next: yields calls, is given their results, and returns its answer. */
export type Player<T> = Generator<ToolCall, T, ToolResult>

/** Where the tools are, and whose they are. */
export interface Connection {
  readonly url: string
  /** An access token or an API key. */
  readonly token?: string | undefined
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Lets `player` play to its end; resolves to its answer. */
export async function run<T>(connection: Connection, player: Player<T>): Promise<T> {
  let step = player.next()
  while (!step.done) step = player.next(await call(connection, step.value))
  return step.value
}

const REVISION = '2026-07-28'
const META = 'io.modelcontextprotocol/'

/** Calls one tool: a single request, with nothing before or after it. */
async function call({ url, token, fetch = globalThis.fetch }: Connection, tool: ToolCall) {
  const _meta = { [`${META}protocolVersion`]: REVISION, [`${META}clientCapabilities`]: {} }
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...{ 'MCP-Protocol-Version': REVISION, 'Mcp-Method': 'tools/call', 'Mcp-Name': tool.name },
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { ...tool, _meta },
    }),
  })
  const { result, error } = (await response.json()) as {
    result?: ToolResult
    error?: { message: string }
  }
  // What was refused is something to learn from, not the end.
  const text = error?.message ?? `The server responded with ${response.status}.`
  return result ?? { isError: true, content: [{ text }], structuredContent: {} }
}

/** What the largest cities of a country are, and which of them is a favourite now. */
export interface LargestCities {
  readonly cities: readonly { readonly name: string; readonly population: number }[]
  /** The note of the favourite, if the caller may have favourites. */
  readonly favourite?: string
}

/** Finds the largest cities of a country, and keeps the first one as a favourite where that is allowed. */
export function* largestCities(country: string): Player<LargestCities> {
  const models: { model: string; actions: string[] }[] = (yield tool('list_models'))
    .structuredContent.data
  const { fields } = (yield tool('describe_model', { model: '/cities' })).structuredContent.data
  // The description says that a city refers to its country, so the country's id is looked up first.
  const holder = models.find(({ model }) => model === '/countries')
  if (!fields.country?.ref || !holder) throw new Error('there is no way from cities to countries')
  const found = yield tool('query_records', {
    model: holder.model,
    search: country,
    select: ['name'],
  })
  const [{ _id: id }] = found.structuredContent.data
  const largest = yield tool('query_records', {
    ...{ model: '/cities', filter: { country: id }, sort: ['-population'] },
    ...{ limit: 3, select: ['name', 'population'] },
  })
  const cities = largest.structuredContent.data
  const first = yield tool('read_record', { model: '/cities', id: cities[0]._id })
  const { name, population } = first.structuredContent.data
  const mayKeep = models.some(
    ({ model, actions }) => model === '/favourites' && actions.includes('create'),
  )
  if (!mayKeep) return { cities }
  const note = `${name}, ${population} people`
  const kept = yield tool('write_record', {
    ...{ model: '/favourites', values: { city: cities[0]._id, note } },
  })
  return kept.isError ? { cities } : { cities, favourite: kept.structuredContent.data.note }
}

function tool(name: string, given: ToolCall['arguments'] = {}): ToolCall {
  return { name, arguments: given }
}
