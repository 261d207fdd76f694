/**
 * A list asked as a GET and as a QUERY, compared with each other and with the oracle.
 *
 * @module
 */

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../../src/index.ts'
import { runs } from '../../runs.ts'
import { request } from '../service.ts'
import { type Library, openLibrary, SETTINGS, type Setting } from './library.ts'
import { type Foretold, foretell } from './oracle.ts'
import { asGet, asQuery, type Question, questions } from './question.ts'

/** A store to be compared: how it is opened, and how many questions each router is asked, times `FIELDGATE_RUNS`. */
export interface Compared {
  readonly open: () => Store | Promise<Store>
  readonly questions: number
  /** Which random questions they are. */
  readonly seed?: number
}

/** Registers the suite for the store named `name`. */
export function parity(name: string, { open, questions: asked, seed = 1 }: Compared): void {
  const numRuns = runs(asked)
  describe(`GET, QUERY and a naive oracle over ${name}`, () => {
    let library: Library
    beforeAll(async () => {
      library = await openLibrary(await open())
    })
    afterAll(() => library.app.close())

    test.each(Object.entries(SETTINGS))(
      `answers, QUERY: a valid QUERY and its equivalent GET give the same body; ${numRuns} questions to %s`,
      async (mount, setting) => {
        const asked = { get: 0, query: 0, both: 0, found: 0 }
        await fc.assert(
          fc.asyncProperty(questions(library, setting), async (question) => {
            const answers = await answersTo(library, mount, setting, question)
            const [first, second] = answers
            if (second) expect(second.text).toBe(first?.text)
            for (const { status, text } of answers) {
              const foretold = foretell(library, setting, question)
              expect(status).toBe(foretold.status)
              expect(comparable(text)).toEqual(foretold.body)
              asked.found += Number((foretold.body.data as unknown[] | undefined)?.length !== 0)
            }
            asked.both += Number(answers.length === 2)
            asked.get += Number(asGet(question, setting) !== undefined)
            asked.query += Number(asQuery(question) !== undefined)
          }),
          { seed, numRuns },
        )
        // The questions are worth asking: enough of each kind, and most find something.
        expect(asked.get).toBeGreaterThan(numRuns / 4)
        expect(asked.query).toBeGreaterThan(numRuns / 2)
        expect(asked.both).toBeGreaterThan(numRuns / 8)
        expect(asked.found).toBeGreaterThan(numRuns / 2)
      },
    )
  })
}

interface Text {
  readonly status: number
  readonly text: string
}

/** The answers to the question, put in each way that can ask it. */
async function answersTo(
  { app }: Library,
  mount: string,
  setting: Setting,
  question: Question,
): Promise<Text[]> {
  const send = async (sent: Request): Promise<Text> => {
    const response = await app.handle(sent)
    return { status: response.status, text: withoutId(await response.text()) }
  }
  const get = asGet(question, setting)
  const query = asQuery(question)
  return Promise.all([
    ...(get === undefined ? [] : [send(request('GET', `${mount}?${get}`))]),
    ...(query ? [send(request('QUERY', mount, { json: query }))] : []),
  ])
}

/** The request id is a failure's own. */
function withoutId(text: string): string {
  return text.replace(/,"requestId":"[^"]*"/, '')
}

/** A body with a word in place of the token, which cannot be foretold. */
function comparable(text: string): Foretold['body'] {
  return JSON.parse(text, (key, value) =>
    key === 'nextCursor' && typeof value === 'string' ? 'a token' : value,
  ) as Foretold['body']
}
