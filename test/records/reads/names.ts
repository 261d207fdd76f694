/**
 * What becomes of names that `onGet` returns and the model does not have: the same on every store.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import {
  type App,
  createApp,
  createRouter,
  defineModel,
  type Fields,
  ref,
  type Store,
} from '../../../src/index.ts'
import { answerOf, recordedLog, request } from '../service.ts'

const VALUES = {
  str: 'a',
  num: 1,
  place: { city: 'Oslo', zip: '0150' },
  gone: null,
  stops: [{ km: 1, name: 'x' }, null],
  grid: [[{ km: 2, name: 'y' }]],
  map: { a: 1, b: { c: 2, d: 3 } },
  any: [5, { x: 1, y: 2 }],
  open: { free: 1, more: 2 },
}

/** What each select shows beside `_id`. */
const SHOWN: readonly (readonly [select: readonly string[], shown: Fields])[] = [
  ...['str,', 'str,$a', 'str,.str', 'str,str..x', 'str,a\0b', 'str,-', 'str,str.x', 'str,-num'].map(
    (select) => [select.split(','), { str: 'a' }] as const,
  ),
  ...['', '$a', '.str', 'str.', 'str..x', 'str.x', 'a\0b', 'nmae', '__proto__', 'stops.0.km'].map(
    (name) => [[name], {}] as const,
  ),
  ...['-', '-$a', '-.str', '-str..x', '-a\0b', '-nmae', '-str.x', '-_id', '--'].map(
    (name) => [[name], VALUES] as const,
  ),
  [['-', '-str'], { ...VALUES, str: undefined }],
  [['nmae', '-str'], {}],
  [['place.city', 'place.nmae', 'place.$x'], { place: { city: 'Oslo' } }],
  [['gone.city', 'stops.km'], { gone: null, stops: [{ km: 1 }, null] }],
  [['grid'], { grid: VALUES.grid }],
  [['grid.km', 'map.b.c'], { grid: [[{ km: 2 }]], map: { b: { c: 2 } } }],
  [['any.x', 'open.free'], { any: [5, { x: 1 }], open: { free: 1 } }],
  [['any.$x', 'map.\0', 'open.y..z'], { any: [5, {}], map: {} }],
  [
    ['-any.x', '-map.b.c', '-stops.km'],
    {
      ...VALUES,
      any: [5, { y: 2 }],
      map: { a: 1, b: { d: 3 } },
      stops: [{ name: 'x' }, null],
    },
  ],
]

/** Registers the suite for the store named `name`. */
export function unknownNames(name: string, open: () => Store | Promise<Store>): void {
  describe(`names that the model does not have, on ${name}`, () => {
    const log = recordedLog()
    let app: App
    let path: string
    let friend: string
    beforeAll(async () => {
      app = createApp({ store: await open(), logger: log, env: {} })
      const Named = model()
      app.mount(
        '/things',
        createRouter({
          model: Named,
          blockedFields: [],
          onGet: ({ query }) => JSON.parse(String(query.as ?? '{}')),
        }),
      )
      const stored = app.store.collection<Fields>(Named as never)
      friend = String((await stored.insert(VALUES))._id)
      const { _id } = await stored.insert({ ...VALUES, friend })
      path = `/things/${_id}`
    })
    afterAll(() => app.close())

    const send = async (method: string, url: string, as: object, json?: object) =>
      answerOf(
        await app.handle(
          request(method, `${url}?as=${encodeURIComponent(JSON.stringify(as))}`, { json }),
        ),
      )

    test.each(SHOWN)('a select of %j', async (select, shown) => {
      const expected = JSON.parse(JSON.stringify(shown)) as Fields
      const answers = [
        await send('GET', path, { select }),
        await send('PATCH', path, { select }, { num: 1 }),
        await send('GET', path, { populate: { path: 'friend', select } }),
        await send('GET', '/things', { select }),
        await send('QUERY', '/things', { select }, {}),
      ]
      const records = answers.map(({ status, body, text }) => {
        expect(status, text).toBe(200)
        return (Array.isArray(body.data) ? body.data[1] : body.data) as Fields
      })
      const [one, patched, populated, listed, queried] = records
      for (const record of [one, patched, listed, queried]) {
        const { _id, friend: _friend, ...rest } = record ?? {}
        expect(path).toBe(`/things/${_id}`)
        expect(rest).toEqual(expected)
      }
      expect(populated?.friend).toEqual({ _id: friend, ...expected })
      expect(log.lines.filter(({ level }) => level !== 'warn')).toEqual([])
    })

    test('one warning for each name, whoever asks and however often', async () => {
      const told = () => log.lines.filter(({ message }) => message.includes('"once"'))
      for (let time = 0; time < 3; time += 1) {
        await send('GET', path, { select: ['str', 'once'] })
        await send('GET', '/things', { select: ['once'], populate: 'once' })
      }
      expect(told().map(({ level, message }) => `${level}: ${message}`)).toEqual([
        expect.stringMatching(
          /^warn: Router '\/things': onGet's 'select' names "once", which is not a field of /,
        ),
        expect.stringMatching(/^warn: .* 'populate' names "once", which is not a reference of /),
      ])
    })

    test('a client that chooses names without end fills neither the log nor the memory', async () => {
      const long = 'x'.repeat(500)
      for (let at = 0; at < 300; at += 1) {
        await send('GET', path, { select: [`name${at}`, `${at}${long}`] })
      }
      expect(log.lines.length).toBeLessThanOrEqual(100)
      expect(log.text).not.toContain('x'.repeat(100))
    })
  })
}

function model() {
  const name = `Named${crypto.randomUUID()}`
  const stop = z.object({ km: z.number(), name: z.string() })
  return defineModel(name, {
    fields: {
      str: z.string(),
      num: z.number(),
      place: z.object({ city: z.string(), zip: z.string() }),
      gone: z.object({ city: z.string() }).nullable(),
      stops: z.array(stop.nullable()),
      grid: z.array(z.array(stop)),
      map: z.record(z.string(), z.unknown()),
      any: z.unknown(),
      open: z.looseObject({ free: z.number() }),
      friend: ref(name).optional(),
    },
    hidden: [],
  })
}
