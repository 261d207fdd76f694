import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createRouter, defineModel, type Guard, HttpError, ref } from '../../../src/index.ts'
import { Note, notes, signedIn } from './notes.ts'

describe('design, scope: through references', () => {
  const Comment = defineModel('ScopeComment', {
    fields: {
      text: z.string(),
      note: ref('ScopeNote'),
      notes: z.array(ref('ScopeNote')).optional(),
    },
  })

  async function comments() {
    const made = await notes()
    const router = createRouter({
      model: Comment,
      middlewares: [signedIn],
      search: ['text', 'note.title'],
      allowedFields: ['text', 'note'],
      onGet: () => ({ populate: ['note', 'notes'] }),
    })
    made.app.mount('/comments', router)
    const stored = made.app.store.collection(Comment)
    const [annsNote] = made.made.ann
    const [bobsNote] = made.made.bob
    const both = [String(annsNote?._id), String(bobsNote?._id)] as const
    await stored.insert({ text: 'on anns', note: both[0], notes: [...both] })
    await stored.insert({ text: 'on bobs', note: both[1], notes: [...both] })
    return { ...made, annsNote, bobsNote }
  }

  test("design, scope: populate fills in what the target's router would show, and nothing else", async () => {
    const { ann, annsNote } = await comments()
    const { records, text } = await ann('GET', '/comments')
    expect(records).toMatchObject([
      { text: 'on anns', note: annsNote, notes: [annsNote] },
      { text: 'on bobs', note: null, notes: [annsNote] },
    ])
    expect(text).not.toContain('secret bob')
    const path = `/comments/${records[1]?._id}`
    expect((await ann('GET', path)).record.note).toBeNull()
    expect((await ann('PATCH', path, { text: 'changed' })).record.note).toBeNull()
  })

  test('design, scope: a second router that shows all behind a guard opens nothing to those who follow a reference', async () => {
    const { app, ann, bobsNote } = await comments()
    const refuse: Guard = () => {
      throw new HttpError(403, 'You do not have access to this resource.')
    }
    app.mount(
      '/admin/notes',
      createRouter({ model: Note, middlewares: [refuse], allowedFields: [] }),
    )
    expect((await ann('GET', '/comments')).text).not.toContain('secret bob')
    expect((await ann('GET', '/comments?s=secret bob')).records).toEqual([])
    app.mount('/public/notes', createRouter({ model: Note, allowedFields: [] }))
    expect((await ann('GET', '/comments')).records).toMatchObject([{}, { note: bobsNote }])
  })

  test.each([
    ['no field', () => ({})],
    ['an unknown field', () => ({ ownr: 'ann' })],
    ['null', () => null],
  ])('design, scope: one that gives %s shows nothing through a reference', async (_, scope) => {
    const made = await notes({ scope: scope as never })
    const router = createRouter({
      model: Comment,
      middlewares: [],
      search: ['note.title'],
      allowedFields: [],
      onGet: () => ({ populate: ['note', 'notes'] }),
    })
    made.app.mount('/comments', router)
    const id = String(made.made.ann[0]?._id)
    await made.app.store.collection(Comment).insert({ text: 'x', note: id, notes: [id] })
    expect((await made.ann('GET', '/comments')).records).toMatchObject([{ note: null, notes: [] }])
    expect((await made.ann('GET', '/comments?s=secret')).records).toEqual([])
  })

  test("design, scope: a search through a reference finds nothing by another's text", async () => {
    const { ann, bob } = await comments()
    expect((await ann('GET', '/comments?s=secret bob')).records).toEqual([])
    expect((await ann('GET', '/comments?s=secret ann')).records).toMatchObject([
      { text: 'on anns' },
    ])
    expect((await bob('GET', '/comments?s=secret')).records).toMatchObject([{ text: 'on bobs' }])
  })
})
