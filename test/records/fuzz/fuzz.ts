/**
 * Sends hostile requests, and holds every answer and the stored records against what must always be so.
 *
 * @module
 */

import fc from 'fast-check'
import type { Fields } from '../../../src/index.ts'
import { type Envelope, request } from '../service.ts'
import { LIVE, requests, type Sent } from './requests.ts'
import { openWorld, UNSEEN, type World, WRITABLE } from './world.ts'

/** How many requests were answered with each status. */
export type Statuses = Readonly<Record<string, number>>

const BATCH = 1000
const WRITES = ['POST', 'PATCH', 'DELETE']
const KEYS = ['success', 'data', 'message', 'pagination', 'error', 'fields', 'requestId']

/** Sends `cases` requests drawn from `seed`; throws an error that holds the first one that breaks a rule. */
export async function fuzz(cases: number, seed: number): Promise<Statuses> {
  const statuses = new Map<string, number>()
  const world = await openWorld()
  try {
    const arbitrary = requests(world)
    const stream = new Stream(world)
    for (let done = 0; done < cases; done += BATCH) {
      const numRuns = Math.min(BATCH, cases - done)
      const from = seed + done / BATCH
      for (const sent of fc.sample(arbitrary, { seed: from, numRuns })) {
        const status = await stream.send(sent).catch((cause: unknown) => {
          throw new Error(`seed ${from}: ${JSON.stringify(sent, null, 2)}`, { cause })
        })
        const key = `${sent.method} ${status}`
        statuses.set(key, (statuses.get(key) ?? 0) + 1)
      }
    }
  } finally {
    await world.app.close()
  }
  return Object.fromEntries([...statuses].sort())
}

/** Reads change nothing; that is looked at now and then only. */
const LOOK_EVERY = 16

/** Requests one after the other, each checked. */
class Stream {
  readonly #world: World
  #anns = ''
  #bobs = ''
  #ids: readonly string[] = []
  #sent = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Sends one request; gives the status of its answer. */
  async send(sent: Sent): Promise<number | string> {
    if (this.#anns === '') await this.#look()
    this.#sent += 1
    const id = this.#ids[this.#sent % this.#ids.length] ?? ''
    const made = requestOf({ ...sent, url: sent.url.replace(LIVE, id) })
    if (!made) return 'not sent'
    const response = await this.#world.app.handle(made)
    const text = await response.text()
    checkAnswer(sent, response, text)
    const isWrite = WRITES.includes(sent.method)
    if (isWrite || this.#sent % LOOK_EVERY === 0) await this.#checkRecords(sent, response.status)
    return response.status
  }

  async #checkRecords({ method }: Sent, status: number): Promise<void> {
    must((await this.#world.notesOf('bob')) === this.#bobs, 'a record out of scope was changed')
    const anns = await this.#world.notesOf('ann')
    if (anns === this.#anns) return
    const accepted = WRITES.includes(method) && status < 300
    must(accepted, `${method} was answered ${status}, and a record has changed`)
    for (const note of JSON.parse(anns)) checkNote(note)
    await this.#world.tidy()
    await this.#look()
  }

  async #look(): Promise<void> {
    this.#anns = await this.#world.notesOf('ann')
    this.#bobs = await this.#world.notesOf('bob')
    const notes: Fields[] = JSON.parse(this.#anns)
    this.#ids = notes.map(({ _id }) => String(_id))
  }
}

/** Undefined for what is no request: the platform refuses some before anybody can send them. */
function requestOf({ method, url, headers, body }: Sent): Request | undefined {
  try {
    const path = url.slice('http://localhost'.length)
    return request(method, path, { headers: { ...headers }, ...(body && { body }) })
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function checkAnswer({ method }: Sent, response: Response, text: string): void {
  const { status, headers } = response
  must(status >= 200 && status < 500, `the status is ${status}: ${text}`)
  for (const word of UNSEEN) must(!text.includes(word), `the answer holds '${word}': ${text}`)
  if (method === 'HEAD' || status === 304) {
    must(text === '', 'a body where none belongs')
  } else if (method === 'OPTIONS' && status === 200) {
    must(text === headers.get('allow'), 'OPTIONS says something else than Allow')
  } else {
    const type = headers.get('content-type')
    must(type === 'application/json; charset=utf-8', `an answer of the type ${type}`)
    checkEnvelope(JSON.parse(text), status)
  }
}

function checkEnvelope(body: Envelope, status: number): void {
  const { success, error, fields = {}, requestId, data, message } = body
  must(success === status < 400, `success is ${success} with ${status}`)
  for (const key of Object.keys(body)) must(KEYS.includes(key), `'${key}' is in the envelope`)
  const parts = [data, message, error].filter((part) => part !== undefined)
  must(parts.length === 1, 'not one of data, message and error')
  must(Boolean(success) === (error === undefined), 'an error with success, or none without')
  must(Boolean(success) === (requestId === undefined), 'a requestId with success, or none without')
  for (const text of Object.values(fields)) must(typeof text === 'string', 'fields holds no text')
}

const DECLARED = ['_id', ...WRITABLE, 'locked', 'secret', 'createdAt', 'updatedAt']

/** What no client can bring about in a record of its own. */
function checkNote(note: Fields): void {
  must(/^[0-9a-f]{24}$/.test(String(note._id)), 'an odd _id')
  must(note.owner === 'ann', 'an owner other than who signed in')
  must(note.locked === 'as it was', 'a field that nobody may write was written')
  must(note.secret === 'hidden-secret', 'a hidden field was written')
  for (const key of Object.keys(note)) must(DECLARED.includes(key), `the key '${key}' was stored`)
  for (const value of Object.values(note)) checkKeys(value)
}

const FORBIDDEN = /^(?:_id|__v|createdAt|updatedAt|__proto__|constructor|prototype|\$.*|.*\..*)$/s

function checkKeys(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    must(!FORBIDDEN.test(key), `the forbidden key '${key}' was stored`)
    checkKeys(inner)
  }
}

function must(holds: boolean, complaint: string): void {
  if (!holds) throw new Error(complaint)
}
