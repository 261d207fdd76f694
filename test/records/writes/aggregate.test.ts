import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineModel } from '../../../src/index.ts'
import { service } from '../service.ts'

const Order = defineModel('AggregateOrder', {
  fields: {
    shop: z.string(),
    total: z.number(),
    paidAt: z.date().optional(),
    margin: z.number().optional(),
    sum: z.string().optional(),
    tags: z.array(z.string()).optional(),
  },
  timestamps: true,
  hidden: ['margin'],
})

async function orders() {
  const { app } = service()
  const collection = app.store.collection(Order)
  for (let at = 0; at < 250; at += 1) {
    await collection.insert({
      shop: `shop ${at % 125}`,
      total: at,
      margin: at / 10,
      ...(at % 2 === 0 && { paidAt: new Date(Date.UTC(2026, at % 12, 3)) }),
    })
  }
  return collection
}

describe('beyond, section 10: aggregates of app.store', () => {
  test('all groups, of any field, hidden ones too; dates are Dates', async () => {
    const collection = await orders()
    const groups = await collection.aggregate({ count: true, sum: ['total'], by: ['shop'] })
    expect(groups).toHaveLength(125)
    expect(groups[0]).toEqual({ shop: 'shop 0', count: 2, sum: { total: 125 } })
    const months = await collection.aggregate({
      count: true,
      avg: ['margin'],
      max: ['paidAt'],
      by: ['paidAt:month'],
      filter: { total: { lt: 24 } },
      sort: ['-count', '-paidAt:month'],
      limit: 2,
    })
    expect(months).toEqual([
      { 'paidAt:month': null, count: 12, avg: { margin: 1.2 }, max: { paidAt: null } },
      {
        'paidAt:month': '2026-11',
        count: 2,
        avg: { margin: 1.6 },
        max: { paidAt: new Date(Date.UTC(2026, 10, 3)) },
      },
    ])
    expect(await collection.aggregate({ count: true })).toEqual([{ count: 250 }])
    expect(await collection.aggregate({ count: true, by: ['shop'], limit: 0 })).toEqual([])
  })

  test.each([
    [{ count: true, by: ['tags'] }, "Field 'tags' cannot be grouped by."],
    [{ count: true, by: ['nope'] }, "Field 'nope' cannot be grouped by."],
    [{ count: true, by: ['sum'] }, "Field 'sum' cannot be grouped by."],
    [{ count: true, by: ['shop:month'] }, "Field 'shop:month' cannot be grouped by."],
    [{ sum: ['shop'] }, "Field 'shop' cannot be aggregated."],
    [{ sum: ['paidAt'] }, "Field 'paidAt' is a date, which has only 'min' and 'max'."],
    [{ by: ['shop'] }, "'aggregate' must ask for 'count', 'sum', 'avg', 'min' or 'max'."],
    [
      { count: true, where: {} },
      "Unknown key 'where' in 'aggregate'. Allowed: count, sum, avg, min, max.",
    ],
    [{ count: true, limit: -1 }, "'limit' must be a whole number of at least 0"],
  ])('%j is refused', async (query, message) => {
    const collection = service().app.store.collection(Order)
    await expect(collection.aggregate(query as never)).rejects.toThrow(message)
  })
})
