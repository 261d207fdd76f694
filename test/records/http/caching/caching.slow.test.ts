import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { randomFrom } from '../../../random.ts'
import { seeds } from '../../../runs.ts'
import { type Asked, HttpCache, type Told } from './http-cache.ts'
import { ORIGINS, type World, world } from './world.ts'

const ACCEPTS = [
  ...['application/json', 'text/csv', 'application/x-ndjson', 'application/problem+json'],
  ...['text/csv;q=0.5, application/json;q=0.4', 'text/html', '*/*', 'text/event-stream'],
]
const CODINGS = ['gzip', 'br', 'zstd', 'identity', 'gzip;q=0', 'br;q=0.5, gzip', 'gzip, zstd;q=0.5']
/** What says how a body is to be read, and by whom. */
const TELLING = [
  'content-security-policy',
  ...['content-type', 'content-disposition', 'content-encoding', 'etag', 'last-modified', 'vary'],
  ...['cache-control', 'allow', 'accept-query', 'accept-ranges', 'www-authenticate', 'location'],
  ...[
    'access-control-allow-origin',
    'access-control-allow-credentials',
    'access-control-expose-headers',
  ],
]

type Pick = <T>(from: readonly T[]) => T

/** What there is to choose from. */
interface Choices {
  readonly paths: readonly string[]
  readonly callers: World['callers']
  readonly accepts: readonly (string | undefined)[]
  readonly codings: readonly (string | undefined)[]
  readonly origins: readonly (string | undefined)[]
  readonly bodies: readonly string[]
}

const MOUNTS = [
  '/kept',
  '/open',
  '/mine',
  '/own',
  '/partner',
  '/cookie',
  '/photos',
  '/cursor',
  '/posters',
]

const listsIn = ({ ids }: World): readonly string[] =>
  MOUNTS.flatMap((mount) => [
    ...[mount, `${mount}?page=1&pageSize=3`, `${mount}?title=page%201`, `${mount}?s=2`],
    ...[`${mount}?select=title`, `${mount}?expand=country`, `${mount}?page=1&select=title,text`],
    ...[`${mount}/${ids[0]}`, `${mount}/${ids[1]}`, `${mount}/${ids[1]}?select=text`],
    ...[`${mount}/${ids[1]}?expand=country`, `${mount}/${ids[0]}/history`],
    ...[`${mount}/${'0'.repeat(24)}`, `${mount}/x`, `${mount}?sort=cost`],
  ])

const othersIn = ({ files }: World): readonly string[] => [
  ...[
    '/nothing',
    '/hello',
    '/page',
    '/docs/openapi.json',
    '/docs',
    '/healthz',
    '/readyz',
    '/auth/me',
  ],
  ...['/auth/users', '/auth/login', '/auth/keys', '/auth/sessions', ...files],
]

/** Few of each: otherwise nobody would ask for what a cache has. */
function choicesOf(all: World, pick: Pick): Choices {
  const some = <T>(from: readonly T[], count: number): readonly T[] =>
    Array.from({ length: count }, () => pick(from))
  return {
    paths: [...some(listsIn(all), 4), ...some(othersIn(all), 3)],
    callers: [{}, ...some(all.callers, 3)],
    accepts: [undefined, ...some(ACCEPTS, 2)],
    codings: [undefined, ...some(CODINGS, 2)],
    origins: [undefined, ...some(ORIGINS, 1)],
    bodies: some(['{}', '{"select":["title"]}', '{"aggregate":{"count":true}}', '{"page":0}'], 2),
  }
}

function readFrom(from: Choices, pick: Pick, tagsOf: (key: string) => readonly string[]): Asked {
  const path = pick(from.paths)
  const isQuery = MOUNTS.includes(path) && pick([0, 1, 2]) === 0
  const headers: Record<string, string> = { 'x-request-id': 'same', ...pick(from.callers) }
  const chosen = {
    accept: pick(from.accepts),
    'accept-encoding': pick(from.codings),
    origin: pick(from.origins),
  }
  for (const [name, value] of Object.entries(chosen)) if (value !== undefined) headers[name] = value
  if (isQuery) headers['content-type'] = 'application/json'
  const asked = {
    ...{ method: isQuery ? 'QUERY' : pick(['GET', 'GET', 'GET', 'HEAD']), path, headers },
    ...(isQuery && { body: pick(from.bodies) }),
  }
  const known = tagsOf(whereOf(asked))
  if (known.length > 0 && pick([0, 1, 2]) === 0) headers['if-none-match'] = pick(known)
  return asked
}

const whereOf = ({ method, path, body = '' }: Asked): string =>
  `${method === 'QUERY' ? method : ''} ${path} ${body}`

function plainOf({ headers, bytes }: Told): string {
  if (bytes.length === 0) return ''
  const coding = headers.get('content-encoding')
  if (coding === 'gzip') return gunzipSync(bytes).toString('latin1')
  if (coding === 'br') return brotliDecompressSync(bytes).toString('latin1')
  if (coding === 'zstd') return zstdDecompressSync(bytes).toString('latin1')
  return bytes.toString('latin1')
}

/** What a body is, beside its bytes; and what a 304 has to say (RFC 9110, 15.4.5). */
const OF_A_BODY = ['text', 'content-type', 'content-encoding']
const POLICY = 'content-security-policy'
const IN_A_304 = ['etag', 'cache-control', 'vary', 'last-modified']

type Telling = Readonly<Record<string, string | null>>

/** What a response tells, but for where it came from. */
const toldBy = (answer: Told): Telling => ({
  status: String(answer.status),
  text: plainOf(answer),
  ...Object.fromEntries(TELLING.map((name) => [name, answer.headers.get(name)])),
})

const isSame = (one: Telling, other: Telling): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

function isAccepted(coding: string | null | undefined, accept = ''): boolean {
  return (
    !coding ||
    (accept.includes(coding) && !accept.includes(`${coding};q=0,`) && accept !== `${coding};q=0`)
  )
}

/**
 * What its client must see: whichever coding it accepts, and who else may read it only if it is a page that asks and may. A cache
 * may give it what another page may read.
 */
function seenBy({ headers }: Asked, told: Telling): Telling {
  const isRead = told[ALLOWED] !== null && told[ALLOWED] === headers.origin
  const cors = Object.keys(told).filter((name) => name.startsWith('access-control-'))
  return {
    ...told,
    'content-encoding': null,
    etag: told.etag?.replace(/\+\w+"$/, '"') ?? null,
    ...(!isRead && Object.fromEntries(cors.map((name) => [name, null]))),
  }
}

const ALLOWED = 'access-control-allow-origin'

/** A write by anyone, as far as it is let. */
function writeFrom({ ids }: World, pick: Pick): Asked {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ title: `page ${pick([0, 1, 2, 3])}`, isOpen: pick([true, false]) })
  const method = pick(['PATCH', 'PATCH', 'DELETE'])
  const at = method === 'DELETE' ? pick(ids.slice(4)) : pick(ids)
  return { method, path: `/open/${at}`, headers, ...(method === 'PATCH' && { body }) }
}

/** One seed's questions, and what was told that should not have been. */
class Trial {
  readonly wrong: unknown[] = []
  readonly #all: World
  readonly #pick: Pick
  readonly #cache: HttpCache
  readonly #choices: Choices
  /** What was sent under each tag of a place. */
  readonly #sent = new Map<string, Telling>()
  /** The bodies that each user was told at a place. */
  readonly #said = new Map<string, Set<string | null | undefined>>()

  constructor(all: World, seed: number, kind: 'shared' | 'private') {
    const random = randomFrom(seed)
    this.#all = all
    this.#pick = (from) => from[Math.floor(random() * from.length)] as (typeof from)[number]
    this.#cache = new HttpCache(kind, all.ask)
    this.#choices = choicesOf(all, this.#pick)
  }

  get hits(): number {
    return this.#cache.hits
  }

  async step(): Promise<void> {
    if (this.#pick([0, 1, 2, 3, 4, 5, 6, 7]) === 0) {
      await this.#cache.ask(writeFrom(this.#all, this.#pick))
    }
    const asked = readFrom(this.#choices, this.#pick, (where) => this.#tagsOf(where))
    const { 'if-none-match': _, ...headers } = asked.headers
    const direct = { ...asked, headers }
    const right = toldBy(await this.#all.ask(direct))
    const user = `${whereOf(asked)}\n${headers.authorization}`
    this.#said.set(user, (this.#said.get(user) ?? new Set()).add(right.text))
    const shown = await this.#cache.ask(asked)
    if (shown.mayBeOld) this.#compareOld(asked, toldBy(shown), right)
    else this.#compare(asked, toldBy(shown), right)
    await this.#condition(direct, right)
    if (asked.method !== 'GET') return
    const head = toldBy(await this.#all.ask({ ...direct, method: 'HEAD' }))
    if (!isSame(head, { ...right, text: '' })) this.#fail('another HEAD', asked, head, right)
  }

  #tagsOf(where: string): readonly string[] {
    const keys = [...this.#sent.keys()].filter((key) => key.startsWith(`${where}\n`))
    return keys.map((key) => key.slice(where.length + 1))
  }

  #fail(what: string, asked: Asked, shown: Telling, right: Telling | undefined): void {
    const names = Object.keys(shown).filter((name) => shown[name] !== right?.[name])
    this.wrong.push({
      what,
      asked,
      differ: names.map((name) => [name, shown[name], right?.[name]]),
    })
  }

  /** What the cache may tell for a time, with all that the app has said to this client. */
  #compareOld(asked: Asked, shown: Telling, right: Telling): void {
    const key = `${whereOf(asked)}\n${asked.headers.authorization}`
    const said = this.#said.get(key)
    const isOld = shown.status === '304' || asked.method === 'HEAD' || said?.has(shown.text)
    if (!isOld) this.#fail('what the app never said to this client', asked, shown, right)
  }

  /** What the cache has told, with what the app says to this client now. */
  #compare(asked: Asked, shown: Telling, right: Telling): void {
    const isKnown = shown.status === '304'
    const known = isKnown ? this.#sent.get(`${whereOf(asked)}\n${shown.etag}`) : shown
    if (!isAccepted(known?.['content-encoding'], asked.headers['accept-encoding'])) {
      this.#fail('a coding that is not accepted', asked, shown, right)
    }
    const isRight = isKnown
      ? right.status === '200' && (asked.method === 'HEAD' || known?.text === right.text)
      : isSame(seenBy(asked, shown), seenBy(asked, right))
    if (!isRight) this.#fail('another response', asked, shown, right)
  }

  /** A tag is that of one body, and its 304 says of it what its 200 says. */
  async #condition(direct: Asked, right: Telling): Promise<void> {
    const { etag } = right
    if (!etag || right.status !== '200' || direct.method === 'HEAD') return
    const key = `${whereOf(direct)}\n${etag}`
    const before = this.#sent.get(key) ?? right
    this.#sent.set(key, right)
    const isOne = OF_A_BODY.every((name) => before[name] === right[name])
    if (!isOne) this.#fail('a tag of two bodies', direct, before, right)
    const headers = { ...direct.headers, 'if-none-match': etag }
    const again = toldBy(await this.#all.ask({ ...direct, headers }))
    const isSaid = again.status === '304' && IN_A_304.every((name) => again[name] === right[name])
    // A cache takes over what a 304 says.
    const { [POLICY]: policy } = again
    if (!isSaid || (policy && policy !== right[POLICY]))
      this.#fail('another 304', direct, again, right)
  }
}

describe.each(['shared', 'private'] as const)('through a %s cache', (kind) => {
  let hits = 0

  it.each(seeds(8))('everyone gets what the app would tell them: seed %d', async (seed) => {
    const trial = new Trial(await world(), seed, kind)
    for (let step = 0; step < 150; step += 1) await trial.step()
    expect(trial.wrong).toEqual([])
    hits += trial.hits
  })

  it('which it spoke for now and then', () => {
    expect(hits).toBeGreaterThan(20)
  })
})
