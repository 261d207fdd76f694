import { expect, it } from 'vitest'
import { started } from './run.ts'

it('examples/duckdb-store/app.ts serves what a store of its own keeps in DuckDB', async () => {
  const send = await started('duckdb-store/app', 'node', {})
  const read = async (sensor: string, celsius: number, at: string) =>
    send('POST', '/readings', { sensor, celsius, at })
  for (const [celsius, hour] of [
    [3, '07'],
    [6, '12'],
  ] as const) {
    expect((await read('Roof', celsius, `2026-11-02T${hour}:00:00Z`)).status).toBe(201)
  }
  const { body } = await read('Cellar', 11.5, '2026-11-03T07:00:00Z')
  const taken = await read('Roof', 4, '2026-11-02T07:00:00Z')
  expect([taken.status, taken.body.error]).toEqual([409, expect.stringContaining('sensor')])
  const listed = await send('QUERY', '/readings', {
    filter: { celsius: { gt: 3 } },
    sort: ['-at'],
  })
  expect(listed.body.data).toMatchObject([{ sensor: 'Cellar' }, { sensor: 'Roof', celsius: 6 }])
  expect((await send('GET', '/readings?s=ROO')).body.data).toHaveLength(2)
  const groups = await send('QUERY', '/readings', {
    aggregate: { count: true, avg: ['celsius'] },
    by: ['sensor', 'at:day'],
  })
  expect(groups.body.data).toEqual([
    { sensor: 'Cellar', 'at:day': '2026-11-03', count: 1, avg: { celsius: 11.5 } },
    { sensor: 'Roof', 'at:day': '2026-11-02', count: 2, avg: { celsius: 4.5 } },
  ])
  const path = `/readings/${body.data._id}`
  expect((await send('PATCH', path, { celsius: 12 })).body.data).toMatchObject({ celsius: 12 })
  expect((await send('DELETE', path)).status).toBe(200)
  expect((await send('GET', path)).status).toBe(404)
})
