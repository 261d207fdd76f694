import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel } from '../../../src/index.ts'
import { open } from '../lists/shop.ts'
import { service } from '../service.ts'

describe('the option aggregates', () => {
  test.each([
    [
      { by: ['nam'] },
      "'aggregates.by' lists 'nam', but ShopItem has no such field. Did you mean 'name'?",
    ],
    [{ by: ['secret'] }, "'aggregates.by' names 'secret', which is hidden"],
    [{ by: ['vault.pin'] }, "'aggregates.by' names 'vault.pin', which is hidden"],
    [{ by: ['tags'] }, "'aggregates.by' names 'tags', which has no single value"],
    [{ by: ['place'] }, "'aggregates.by' names 'place', which has no single value"],
    [
      { by: ['any'] },
      "'aggregates.by' names 'any', which may hold values of several types and so has no order. Declare one type, as in z.string() (after a transform: .pipe(z.string())), or leave it out",
    ],
    [
      { by: ['at:moth'] },
      "'aggregates.by' names 'at:moth', but the parts of a date are 'day', 'month' and 'year'. Did you mean 'month'?",
    ],
    [{ by: ['name:month'] }, "'aggregates.by' names 'name:month', but 'name' is not a date"],
    [
      { by: ['aat:month'] },
      "'aggregates.by' lists 'aat', but ShopItem has no such field. Did you mean 'at'?",
    ],
    [{ of: ['name'] }, "'aggregates.of' names 'name', which is neither a number nor a date"],
    [{ of: ['marks'] }, "'aggregates.of' names 'marks', which is neither a number nor a date"],
    [
      { of: ['siz'] },
      "'aggregates.of' lists 'siz', but ShopItem has no such field. Did you mean 'size'?",
    ],
    [{ of: 'size' }, "'aggregates' must be { by, of } with lists of field names"],
    [{ buy: ['name'] }, "'aggregates' must be { by, of } with lists of field names"],
    [[], "'aggregates' must be { by, of } with lists of field names"],
  ])('%j is a start-up error', async (aggregates, message) => {
    await expect(open({ aggregates } as never)).rejects.toThrow(`Router '/items': ${message}`)
  })

  test('a field that is called like what groups have can not be grouped by', () => {
    const Odd = defineModel('GroupsOdd', { fields: { sum: z.string() } })
    const { app } = service()
    expect(() =>
      app.mount('/odd', createRouter({ model: Odd, aggregates: { by: ['sum'] } })),
    ).toThrow("'aggregates.by' lists 'sum', but each group has a member of that name of its own")
  })
})
