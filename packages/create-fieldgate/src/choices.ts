/**
 * What a project can be made of, and which parts fit together.
 *
 * @module
 */

import { parseArgs } from 'node:util'

export const RUNTIMES = ['node', 'deno', 'bun', 'workers'] as const
export const STORES = ['sqlite', 'libsql', 'd1', 'durable-sqlite', 'mongodb', 'postgres'] as const

export type Runtime = (typeof RUNTIMES)[number]
export type Store = (typeof STORES)[number]

/** What to make. */
export interface Choices {
  readonly directory: string
  readonly runtime: Runtime
  readonly store: Store
  /** Whether users have accounts, and records of their own. Otherwise an API key opens all. */
  readonly accounts: boolean
  /** Whether they may sign in by passkeys. */
  readonly passkeys: boolean
  /** Whether it has the admin page, on which users sign in. */
  readonly admin: boolean
}

/** The command line: what it leaves open is asked, or has its default. */
export interface Given extends Partial<Choices> {
  readonly yes: boolean
  readonly install: boolean
  readonly help: boolean
  readonly version: boolean
}

/** An error of the user, whose message is all there is to say. */
export class Refused extends Error {}

/** The stores that run on a runtime; the first one is the default. */
export function storesOn(runtime: Runtime): readonly Store[] {
  return runtime === 'workers'
    ? ['d1', 'durable-sqlite', 'libsql', 'mongodb', 'postgres']
    : ['sqlite', 'libsql', 'mongodb', 'postgres']
}

/** The runtimes that a store runs on; the first one is the default. */
export function runtimesOf(store: Store | undefined): readonly Runtime[] {
  return RUNTIMES.filter((runtime) => store === undefined || storesOn(runtime).includes(store))
}

/** Reads the command line. Throws a `Refused` that names the option which makes no sense. */
export function parse(args: readonly string[]): Given {
  const { values, positionals } = parsed(args)
  if (positionals.length > 1) {
    throw new Refused(`Name one directory, not ${positionals.length}: ${positionals.join(' ')}`)
  }
  const runtime = oneOf('--runtime', RUNTIMES, values.runtime)
  const store = oneOf('--store', STORES, values.store)
  if (runtime && store && !storesOn(runtime).includes(store)) {
    throw new Refused(
      `'--store ${store}' doesn't run on '--runtime ${runtime}'. Choose ${listed(storesOn(runtime))}.`,
    )
  }
  const accounts = accountsIn({ values })
  const [directory] = positionals
  if (directory?.trim() === '') throw new Refused('Name a directory, such as my-api.')
  return {
    ...(directory !== undefined && { directory }),
    ...(runtime && { runtime }),
    ...(store && { store }),
    ...(accounts !== undefined && { accounts }),
    ...(values.passkeys !== undefined && { passkeys: values.passkeys }),
    ...(values.admin !== undefined && { admin: values.admin }),
    yes: values.yes,
    install: values.install,
    help: values.help,
    version: values.version,
  }
}

/** Whether there are accounts: what needs them takes them along. */
function accountsIn({ values }: Pick<ReturnType<typeof parsed>, 'values'>): boolean | undefined {
  const needing = (['passkeys', 'admin'] as const).find((name) => values[name])
  const { accounts = needing && true } = values
  if (needing && !accounts) throw new Refused(`'--${needing}' needs '--accounts'.`)
  return accounts
}

const OPTIONS = {
  runtime: { type: 'string' },
  store: { type: 'string' },
  accounts: { type: 'boolean' },
  passkeys: { type: 'boolean' },
  admin: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y', default: false },
  install: { type: 'boolean', default: true },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', short: 'v', default: false },
} as const

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      allowNegative: true,
      options: OPTIONS,
    })
  } catch (error) {
    // Such as "Unknown option '--stor'"; the sentences after the first are for programmers.
    const [message] = (error as Error).message.split(/\.\s/)
    const [, unknown] = /^Unknown option '(--[^']*)'/.exec(String(message)) ?? []
    const known = Object.keys(OPTIONS).map((name) => `--${name}`)
    const meant = unknown === undefined ? '' : didYouMean(unknown, known)
    throw new Refused(`${message}.${meant} See create-fieldgate --help.`)
  }
}

function oneOf<const T extends string>(
  option: string,
  known: readonly T[],
  value: string | undefined,
): T | undefined {
  if (value === undefined) return undefined
  const found = known.find((name) => name === value)
  if (found) return found
  throw new Refused(
    `'${option}' must be ${listed(known)}, not '${value}'.${didYouMean(value, known)}`,
  )
}

/** A sentence with the one of `known` that is nearest to `name`, with a leading space; empty if none is near. */
function didYouMean(name: string, known: readonly string[]): string {
  const [found] = known
    .map((one) => ({ one, wrong: distanceOf(name, one) }))
    .sort((a, b) => a.wrong - b.wrong)
    .filter(({ wrong }) => wrong <= Math.max(1, Math.floor(name.length / 3)))
  return found ? ` Did you mean '${found.one}'?` : ''
}

/** How many letters must be added, removed or replaced. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const [across = 0, up = 0] = row.slice(j, j + 2)
      next.push(Math.min(across + (letter === other ? 0 : 1), up + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** `a, b or c`. */
export function listed(names: readonly string[]): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`
}
