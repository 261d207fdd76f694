import { createApp, createRouter, defineModel } from 'fieldgate'
import type { Store } from 'fieldgate/ports'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { Random } from '../../../extras/contract/store/random.ts'
import { followed } from './followed.ts'

const Note = defineModel('Note', {
  fields: {
    title: z.string(),
    team: z.string(),
    done: z.boolean(),
    rank: z.number(),
    secret: z.string(),
  },
  hidden: ['secret'],
  indexes: ['done'],
  changes: true,
})

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

const READERS = [
  { team: 'a', fields: ['title', 'team', 'done'] },
  { team: 'b', fields: ['title', 'rank', 'done'] },
]
const LISTS = ['', '?done=true', '?s=1', '?done=false&s=2']

/** Random writes, readers, filters and broken connections: what each stream tells is what its list shows in the end. */
export function sameRules(name: string, open: () => Store, seeds: readonly number[]): void {
  it.each(seeds)(
    `a stream shows what the list of its reader shows on ${name}, with seed %i`,
    async (seed) => {
      const source = new Random(seed)
      const random = (below: number) => source.below(below)
      const app = createApp({ store: open(), logger: quiet })
      const readerOf = (request: Request) =>
        READERS.find(({ team }) => team === request.headers.get('x-team')) ?? {
          team: '',
          fields: [],
        }
      app.mount(
        '/notes',
        createRouter({
          ...{ model: Note, middlewares: [], query: ['done'], search: ['title'], live: true },
          scope: (request) => ({ team: readerOf(request).team }),
          fieldsFor: (request) => readerOf(request).fields as 'title'[],
          maxLimit: 1000,
        }),
      )
      const notes = app.store.collection(Note)
      const ids: string[] = []
      const values = () => ({
        title: `note ${random(30)}`,
        ...{ team: 'abc'[random(3)] ?? 'a', done: random(2) === 0, rank: random(5) },
        secret: `secret ${random(9)}`,
      })
      const write = async () => {
        const at = random(ids.length + 3)
        const id = ids[at]
        if (id === undefined) ids.push((await notes.insert(values()))._id)
        else if (random(4) === 0) await notes.delete(ids.splice(at, 1)[0] as string)
        else {
          const [name, value] = Object.entries(values())[random(5)] ?? ['title', 'x']
          await notes.update(id, { [name]: value })
        }
      }
      for (let at = 0; at < 20; at += 1) await write()
      const asked = READERS.flatMap((reader) => LISTS.map((list) => ({ ...reader, list })))
      const follows = asked.map(({ team, fields, list }) => {
        const get = (headers: Record<string, string>) =>
          app.handle(
            new Request(`http://localhost/notes${list}`, {
              headers: { ...headers, 'x-team': team },
            }),
          )
        return { get, ...followed(get), team, fields }
      })
      for (let at = 0; at < 150; at += 1) {
        await write()
        // Now and then a connection breaks.
        if (random(10) === 0) await follows[random(follows.length)]?.cut()
      }
      for (const one of follows) await expectItsList(one)
      await app.close()
    },
  )
}

/** In the end, a stream has told what its list shows, and never anything else. */
async function expectItsList({ get, records, seen, end, team, fields }: Follow): Promise<void> {
  const list = (await (await get({ accept: 'application/json' })).json()).data
  await expect
    .poll(() => [...records.values()].sort(byId), { timeout: 60_000 })
    .toEqual(list.sort(byId))
  for (const one of seen) {
    expect(Object.keys(one).filter((name) => !['_id', ...fields].includes(name))).toEqual([])
    expect(one.team ?? team).toBe(team)
  }
  await end()
}

interface Follow extends ReturnType<typeof followed> {
  get(headers: Record<string, string>): Promise<Response>
  readonly team: string
  readonly fields: readonly string[]
}

function byId(a: { _id: string }, b: { _id: string }): number {
  return a._id < b._id ? -1 : 1
}
