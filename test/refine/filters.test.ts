import { expect, it } from 'vitest'
import { type AnyClient, type RefineFilter, refineData } from '../../adapters/clients/refine.ts'

/** What the client is asked for by a list with these filters. */
async function wanted(filters: readonly RefineFilter[]): Promise<unknown> {
  let where: unknown
  const list = async (asked: { readonly where?: unknown }) => {
    where = asked.where
    return { ok: true, data: [], pagination: { totalRecords: 0, totalPages: 0, currentPage: 1 } }
  }
  const api = (() => ({ list })) as unknown as AnyClient
  await refineData(api).getList({ resource: 'cities', filters })
  return where
}

it('of an or, cleared inputs are left out, and a search is refused', async () => {
  const [name, kind] = ['name', 'kind'].map((field) => ({ field, operator: 'eq', value: 'a' }))
  const cleared = { field: 'text', operator: 'eq', value: '' }
  const or = (...value: unknown[]) => wanted([{ operator: 'or', value }])
  const [byName, byKind] = [{ name: { eq: 'a' } }, { kind: { eq: 'a' } }]
  expect(await or(name, kind, cleared)).toEqual({ or: [byName, byKind] })
  expect(await or(name, cleared)).toEqual({ or: [byName, byName] })
  expect(await or(cleared, cleared)).toBeUndefined()
  await expect(or(name, { field: 'q', operator: 'eq', value: 'a' })).rejects.toThrow(
    /'q' is a search/,
  )
})
