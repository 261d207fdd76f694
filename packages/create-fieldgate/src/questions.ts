/**
 * Asks for what the command line leaves open.
 *
 * @module
 */

import { createInterface } from 'node:readline'
import { type Choices, type Given, listed, Refused, runtimesOf, storesOn } from './choices.ts'

/** Where projects go if nobody names a directory. */
const DIRECTORY = 'my-api'

/** Asks one question; resolves to the answer, empty for the default. */
type Ask = (question: string) => Promise<string>

/** The choices of the command line, with the defaults for all others. */
export function withDefaults(given: Given): Choices {
  const [runtime = 'node'] = given.runtime ? [given.runtime] : runtimesOf(given.store)
  const [store = 'sqlite'] = given.store ? [given.store] : storesOn(runtime)
  const { directory = DIRECTORY, accounts = false, passkeys = false } = given
  return { directory, runtime, store, accounts, passkeys }
}

/** The choices of the command line, with answers for all others. Throws a `Refused` if the input ends before. */
export async function withAnswers(given: Given): Promise<Choices> {
  const input = createInterface({ input: process.stdin, output: process.stdout })
  // Lines may come before their question, from a pipe: the iterator keeps them.
  const lines = input[Symbol.asyncIterator]()
  const ask: Ask = async (question) => {
    input.setPrompt(`${question} `)
    input.prompt()
    const { value, done } = await lines.next()
    if (done) throw new Refused('\nNothing was made. Pass --yes to take the defaults.')
    return value.trim()
  }
  try {
    return await answered(given, ask)
  } finally {
    input.close()
  }
}

async function answered(given: Given, ask: Ask): Promise<Choices> {
  const directory = given.directory ?? ((await ask(`Directory (${DIRECTORY}):`)) || DIRECTORY)
  const runtime = given.runtime ?? (await choose(ask, 'Runtime', runtimesOf(given.store)))
  const store = given.store ?? (await choose(ask, 'Store', storesOn(runtime)))
  const isWanted = async (title: string) => (await choose(ask, title, ['no', 'yes'])) === 'yes'
  const accounts = given.accounts ?? (await isWanted('Accounts'))
  const passkeys = accounts && (given.passkeys ?? (await isWanted('Passkeys')))
  return { directory, runtime, store, accounts, passkeys }
}

/** Asks until the answer is one of `names`, or empty for the first one. */
async function choose<T extends string>(ask: Ask, title: string, names: readonly T[]): Promise<T> {
  const [first] = names
  if (first !== undefined && names.length === 1) return first
  for (;;) {
    const answer = (await ask(`${title}: ${listed(names)} (${first}):`)).toLowerCase()
    const found =
      answer === '' ? first : names.find((name) => name === answer || name[0] === answer)
    if (found) return found
  }
}
