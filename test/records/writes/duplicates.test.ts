import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { defineModel } from '../../../src/index.ts'
import { served } from './typed.ts'

const Account = defineModel('DuplicateAccount', {
  fields: {
    email: z.string().optional(),
    team: z.string().nullish(),
    name: z.string().nullish(),
    born: z.date().optional(),
    place: z.object({ city: z.string() }).optional(),
  },
  unique: ['email', ['team', 'name'], 'born', 'place.city'],
  hidden: ['born'],
})

describe('4.1 Write rules, 6: a duplicate value of a unique field is a 409', () => {
  test('7 Errors · 4.1 Write rules, 6: 409 on POST and on PATCH, with the exact text and fields', async () => {
    const { send } = served(Account)
    await send('POST', '/things', { json: { email: 'a@x' } })
    const { record } = await send('POST', '/things', { json: { email: 'b@x' } })
    for (const [method, path] of [
      ['POST', '/things'],
      ['PATCH', `/things/${record._id}`],
    ] as const) {
      const answer = await send(method, path, { json: { email: 'a@x' } })
      expect(answer.status).toBe(409)
      expect(answer.body).toEqual({
        success: false,
        error: 'Duplicate value for: email.',
        fields: { email: 'Already exists.' },
        requestId: answer.body.requestId,
      })
    }
    expect((await send('GET', `/things/${record._id}`)).record.email).toBe('b@x')
  })

  test('a hidden field is not named, on POST and on PATCH', async () => {
    const { send } = served(Account)
    const born = '2000-01-01T00:00:00.000Z'
    await send('POST', '/things', { json: { born } })
    const { record } = await send('POST', '/things', { json: { email: 'b@x' } })
    for (const [method, path] of [
      ['POST', '/things'],
      ['PATCH', `/things/${record._id}`],
    ] as const) {
      const answer = await send(method, path, { json: { born } })
      expect(answer.status).toBe(409)
      expect(answer.body).toEqual({
        success: false,
        error: 'Duplicate value.',
        requestId: answer.body.requestId,
      })
    }
  })

  test('answers, Envelope and errors: a compound duplicate names its fields in order', async () => {
    const { send } = served(Account)
    await send('POST', '/things', { json: { team: 'red', name: 'ann' } })
    const answer = await send('POST', '/things', { json: { name: 'ann', team: 'red' } })
    expect(answer.status).toBe(409)
    expect(answer.body).toMatchObject({
      error: 'Duplicate value for: team, name.',
      fields: { team: 'Already exists.', name: 'Already exists.' },
    })
    expect((await send('POST', '/things', { json: { team: 'red', name: 'bob' } })).status).toBe(201)
    expect((await send('POST', '/things', { json: { team: 'blue', name: 'ann' } })).status).toBe(
      201,
    )
  })

  test('answers, Envelope and errors: a dotted unique field is named by its path', async () => {
    const { send } = served(Account)
    await send('POST', '/things', { json: { place: { city: 'Oslo' } } })
    const answer = await send('POST', '/things', { json: { place: { city: 'Oslo' } } })
    expect(answer.body).toMatchObject({
      error: 'Duplicate value for: place.city.',
      fields: { 'place.city': 'Already exists.' },
    })
  })

  test('design, Model: unique is sparse: records without the field, or with null, do not clash', async () => {
    const { send } = served(Account)
    for (const json of [
      { team: 'red' },
      { team: 'red' },
      { team: 'red', name: null },
      { team: 'red', name: null },
      { team: null, name: 'ann' },
      { team: null, name: 'ann' },
      { name: 'ann' },
    ]) {
      expect((await send('POST', '/things', { json })).status).toBe(201)
    }
    const { record } = await send('POST', '/things', { json: { team: 'red', name: 'ann' } })
    expect((await send('POST', '/things', { json: { team: 'red', name: 'ann' } })).status).toBe(409)
    expect((await send('PATCH', `/things/${record._id}`, { json: { name: null } })).status).toBe(
      200,
    )
    expect((await send('POST', '/things', { json: { team: 'red', name: 'ann' } })).status).toBe(201)
    expect((await send('PATCH', `/things/${record._id}`, { json: { name: 'ann' } })).status).toBe(
      409,
    )
  })

  test('security, duplicate values: a 409 names fields only: no value, index or collection, hidden fields by name', async () => {
    const { send, log } = served(Account)
    await send('POST', '/things', { json: { born: '1990-05-05' } })
    const answer = await send('POST', '/things', { json: { born: '1990-05-05' } })
    expect(answer.body).toMatchObject({
      error: 'Duplicate value.',
    })
    expect(`${answer.text}${log.text}`).not.toMatch(
      /1990|duplicateaccounts|UNIQUE|E11000|constraint|index/i,
    )
  })

  test('4.1 PATCH: a record may keep its own unique value', async () => {
    const { send } = served(Account)
    const { record } = await send('POST', '/things', {
      json: { email: 'a@x', team: 'red', name: 'ann' },
    })
    const path = `/things/${record._id}`
    expect((await send('PATCH', path, { json: { email: 'a@x' } })).status).toBe(200)
    expect((await send('PATCH', path, { json: { team: 'red', name: 'ann' } })).status).toBe(200)
  })

  test('4.1 Write rules, 6: of 50 parallel POSTs of one value exactly one wins', async () => {
    const { send, stored } = served(Account)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => send('POST', '/things', { json: { email: 'a@x' } })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    expect(await stored.count()).toBe(1)
  })

  test('4.1 Write rules, 6: one that fails takes none of its parallel neighbours with it', async () => {
    const { send, stored } = served(Account)
    await send('POST', '/things', { json: { email: 'taken' } })
    const emails = Array.from({ length: 40 }, (_, index) =>
      index % 4 === 0 ? 'taken' : `free${index}`,
    )
    const answers = await Promise.all(
      emails.map((email) => send('POST', '/things', { json: { email } })),
    )
    expect(answers.map(({ status }) => status)).toEqual(
      emails.map((email) => (email === 'taken' ? 409 : 201)),
    )
    expect(await stored.count()).toBe(31)
  })

  test('4.1 Write rules, 4: several unique sets violated at once: all are named, in the model’s order', async () => {
    const { send } = served(Account)
    await send('POST', '/things', { json: { email: 'a@x', team: 'red', name: 'ann' } })
    const answer = await send('POST', '/things', {
      json: { email: 'a@x', team: 'red', name: 'ann' },
    })
    expect(answer.body.error).toBe('Duplicate value for: email, team, name.')
  })

  test('security, repeated requests: a POST that is sent twice makes two records, or a 409 where a unique field tells them apart', async () => {
    const { send, stored } = served(Account)
    for (let time = 0; time < 2; time += 1) await send('POST', '/things', { json: { team: 'red' } })
    expect(await stored.count()).toBe(2)
    expect((await send('POST', '/things', { json: { email: 'a@x' } })).status).toBe(201)
    expect((await send('POST', '/things', { json: { email: 'a@x' } })).status).toBe(409)
  })
})
