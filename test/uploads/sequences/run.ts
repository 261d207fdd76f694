/**
 * Random writes with files, several at once: whatever they are, every link of a record opens the bytes that were sent for
 * its field, and nothing else is stored.
 *
 * @module
 */

import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { sqliteStore } from '../../../adapters/stores/sqlite/node.ts'
import { Random } from '../../../extras/contract/store/random.ts'
import { batch } from '../../../src/batch/index.ts'
import {
  createRouter,
  type Fields,
  type FileStore,
  HttpError,
  type Store,
  sweepFiles,
} from '../../../src/index.ts'
import { StoreUnavailable } from '../../../src/ports/store/store-errors.ts'
import { type Album, album, fileFields, Photo } from '../album.ts'

/** What a sequence is made of. */
export interface SequenceOptions {
  readonly seed: number
  readonly rounds: number
  /** Whether the file store and the database fail now and then. */
  readonly faults?: boolean
  readonly store?: Store
  /** A folder, if not given. */
  readonly files?: FileStore
}

/** Runs a sequence, and resolves to how often each status was seen. */
export async function sequence(options: SequenceOptions): Promise<ReadonlyMap<number, number>> {
  const run = new Sequence(options)
  for (let round = 0; round < options.rounds; round += 1) await run.round(round)
  return run.statuses
}

type Name = (typeof fileFields)[number]['name']
type Contents = Partial<Record<Name, readonly string[]>>

const NAMES: readonly Name[] = fileFields.map(({ name }) => name)
const MAX: Readonly<Record<Name, number>> = { image: 1, others: 3, cover: 1, sheets: 2 }

/** What a write that was confirmed has written to which record. */
interface Written {
  readonly id: string
  readonly contents: Contents
}

/** How likely, in percent, a call of the file store or the database fails, in the rounds in which they do. */
const FAILING = 10

class Sequence {
  readonly statuses = new Map<number, number>()
  readonly #seed: number
  readonly #random: Random
  readonly #faults: boolean
  readonly #path = `sequences/${crypto.randomUUID()}/`
  readonly #album: Album
  #failing = 0
  #count = 0
  /** The records as the last look at all of them showed them, and what their links opened. */
  readonly #records = new Map<string, Fields>()
  readonly #contents = new Map<string, string>()

  constructor({ seed, faults = false, store = sqliteStore(), files }: SequenceOptions) {
    this.#seed = seed
    this.#random = new Random(seed)
    this.#faults = faults
    const fails = () => this.#random.chance(this.#failing)
    this.#album = album({
      app: { store: doubtful(store, fails) },
      router: { validate },
      // Others may have files in the same place.
      upload: { path: this.#path, allowedMimeTypes: ['application/pdf'], signUrls: 60 },
      ...(files && { files }),
      before: async () => {
        await delay(this.#random.below(3))
        if (fails()) throw new Error('the disk is full')
      },
    })
    const allowedFields = ['title', 'rating', 'image', 'others', 'sheets'] as const
    const plain = createRouter({ model: Photo, middlewares: [], allowedFields })
    this.#album.app.mount('/plain', plain).mount('/batch', batch())
  }

  async round(round: number): Promise<void> {
    await this.#look()
    const before = new Map(this.#records)
    const ids = [...before.keys()]
    const id = this.#oneOf(ids)
    const mayAll = ids.length > 1
    const atOnce = round % 3 === 0 ? 1 : 1 + this.#random.below(4)
    const chosen = Array.from({ length: atOnce }, () => (mayAll ? this.#random.of(KINDS) : 'post'))
    this.#failing = this.#faults && round % 4 === 3 ? FAILING : 0
    const hasFaults = this.#failing > 0
    const written = await Promise.all(
      chosen.map((kind) => this.#act(kind, this.#random.chance(80) ? id : this.#oneOf(ids))),
    )
    this.#failing = 0
    const links = [...this.#contents].length
    await this.#look()
    const context = JSON.stringify({ round, chosen, links })
    if (chosen.length === 1 && written[0]) this.#compare(written[0], before, context)
    await this.#expectStored(hasFaults, context)
  }

  /** Alone, a write says exactly what there is. */
  #compare({ id, contents }: Written, before: ReadonlyMap<string, Fields>, context: string): void {
    const now = this.#records.get(id)
    for (const name of NAMES) {
      const sent = contents[name] ?? []
      // A field of which nothing is sent stays.
      const expected = sent.length > 0 ? sent : this.#contentsOf(before.get(id)?.[name])
      // What the hook has left out.
      if (name === 'image' && now?.title === 'without') continue
      expect(this.#contentsOf(now?.[name]), `${name} ${context}`).toEqual(expected)
    }
  }

  async #expectStored(hasFaults: boolean, context: string): Promise<void> {
    const held = [...this.#records.values()]
      .flatMap((record) =>
        NAMES.flatMap((name) => urlsIn(record[name]).map((url) => this.#keyOf(url))),
      )
      .sort()
    // A failure may leave files over, for the sweeper.
    if (hasFaults) await sweepFiles(this.#album.app, { graceSeconds: -60 })
    const stored = await this.#album.keys()
    expect(
      stored.filter((key) => key.startsWith(this.#path)),
      context,
    ).toEqual(held)
  }

  /** Reads all records, and what their links open. What a key has opened once, it opens for ever. */
  async #look(): Promise<void> {
    const { app, send } = this.#album
    this.#records.clear()
    for (const record of (await send('GET', '/photos')).records) {
      this.#records.set(String(record._id), record)
      for (const url of NAMES.flatMap((name) => urlsIn(record[name]))) {
        const isElsewhere = url.startsWith('http')
        const response = isElsewhere
          ? await fetch(url)
          : await app.handle(new Request(`http://localhost${url}`))
        const content = await response.text()
        expect(response.status, url).toBe(200)
        expect(this.#contents.get(this.#keyOf(url)) ?? content).toBe(content)
        this.#contents.set(this.#keyOf(url), content)
      }
    }
  }

  #contentsOf(value: unknown): string[] {
    return urlsIn(value).map((url) => this.#contents.get(this.#keyOf(url)) ?? url)
  }

  async #act(kind: (typeof KINDS)[number], id: string): Promise<Written | undefined> {
    if (kind === 'post') return this.#upload('POST', '/photos', undefined)
    if (kind === 'patch') return this.#upload('PATCH', `/photos/${id}`, id)
    if (kind === 'batch') return this.#batch(id)
    const path = `${this.#random.of(['/photos', '/plain'])}/${id}`
    if (kind === 'remove') return this.#note(await this.#album.send('DELETE', path))
    const name = this.#oneOf(NAMES)
    const urls = this.#urlsOf(id, name)
    const value = this.#random.of([null, [], urls, [urls[0]]])
    const json = { [name]: value, rating: this.#random.below(6) }
    return this.#note(await this.#album.send('PATCH', path, { json }))
  }

  async #upload(method: string, path: string, id: string | undefined) {
    const { form, contents } = this.#form(id)
    const { status, record } = await this.#album.upload(method, path, form)
    this.#note({ status })
    return status < 300 ? { id: String(record._id), contents } : undefined
  }

  async #batch(id: string): Promise<undefined> {
    const other = this.#oneOf([...this.#records.keys()])
    const change = (body: Fields) => ({ method: 'PATCH', path: `/photos/${id}`, body })
    const operations = [
      change({ [this.#oneOf(NAMES)]: null, rating: this.#random.below(7) }),
      change({ others: [this.#urlsOf(id, 'others')[0]] }),
      ...(this.#random.chance(50) ? [{ method: 'DELETE', path: `/photos/${other}` }] : []),
    ]
    this.#note(await this.#album.send('POST', '/batch', { json: { operations } }))
  }

  #note({ status }: { readonly status: number }): undefined {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    expect([200, 201, 400, 403, 404, 409, 503]).toContain(status)
  }

  /** A form for a record, and what its file fields hold afterwards. */
  #form(id: string | undefined): { readonly form: FormData; readonly contents: Contents } {
    const form = new FormData()
    const title = this.#random.of(['', '', '', '', 'refused', 'without', 'x'.repeat(60)])
    if (title !== '' || id === undefined) form.append('title', title || this.#newText('photo'))
    const contents: Partial<Record<Name, string[]>> = {}
    for (const name of NAMES.filter(() => this.#random.chance(50))) {
      const kept = this.#kept(id, name)
      for (const url of kept) form.append(name, this.#random.chance(50) ? url : bare(url))
      const files = this.#files(MAX[name] - kept.length)
      for (const text of files) form.append(name, new File([text], '"é;\\.pdf'))
      contents[name] = [...this.#contentsOf(kept), ...files]
    }
    return { form, contents }
  }

  /** Those files of a list that stay. */
  #kept(id: string | undefined, name: Name): string[] {
    const urls = MAX[name] === 1 ? [] : this.#urlsOf(id, name)
    return urls.filter(() => this.#random.chance(50))
  }

  /** At least one file if there is room; now and then too many, or one of a wrong type. */
  #files(room: number): string[] {
    if (room === 0) return []
    const start = this.#random.chance(3) ? 'no PDF' : '%PDF-1.4'
    const count = 1 + this.#random.below(this.#random.chance(5) ? 9 : room)
    return Array.from({ length: count }, () => `${start}\n${this.#newText('file')}`)
  }

  /** An empty list has none; the empty string is the id of no record. */
  #oneOf<T extends string>(all: readonly T[]): T {
    return all[this.#random.below(all.length)] ?? ('' as T)
  }

  #keyOf(url: string): string {
    return this.#album.files.keyOf(url) ?? url
  }

  #newText(what: string): string {
    this.#count += 1
    return `${what} ${this.#seed}.${this.#count}`
  }

  #urlsOf(id: string | undefined, name: Name): string[] {
    return urlsIn(this.#records.get(id ?? '')?.[name])
  }
}

const KINDS = [
  'post',
  'patch',
  'patch',
  'patch',
  'patch',
  'json',
  'json',
  'remove',
  'batch',
] as const

function validate(payload: Fields): Fields {
  if (payload.title === 'refused') throw new HttpError(403, 'Refused.')
  return payload.title === 'without' ? { ...payload, image: undefined } : payload
}

/** `store`, some of whose writes are lost, or happen and say that they are. */
function doubtful(store: Store, fails: () => boolean): Store {
  const doubt = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!fails()) return work()
    if (fails()) await work()
    throw new StoreUnavailable('gone')
  }
  return {
    ...store,
    collection(schema) {
      const collection = store.collection(schema)
      return {
        ...collection,
        insert: (record) => doubt(async () => collection.insert(record)),
        update: (...given) => doubt(async () => collection.update(...given)),
        delete: (...given) => doubt(async () => collection.delete(...given)),
      }
    },
  }
}

function urlsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(urlsIn)
  const url = (value as { readonly url?: string } | null | undefined)?.url
  return url === undefined ? [] : [url]
}

function bare(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
