/**
 * Every call that a request makes, failed in every way: what came of it, and what came of the same request sent again.
 *
 * @module
 */

import type { Store } from '../../../src/index.ts'
import { type Faults, KINDS, type Kind } from './faults.ts'
import { type Answer, Place, type Served } from './place.ts'

/** A request, and what must hold whatever becomes of its calls. */
export interface Step {
  send(): Promise<Answer>
  /** The statuses that a repetition may have where the first one was done although it failed. */
  readonly done?: readonly number[]
  /** It shows something that serves once: a repetition may be refused, and then nothing is compared but `check`. */
  readonly oneUse?: true
  /** A repetition of what was done does it again: a client that must not do it twice sends an idempotency key. */
  readonly twice?: true
  /** It is answered before all of it is done, or though not all of it was. */
  readonly lax?: true
  /** A repetition may be told to wait for so many seconds: nobody knows yet what became of the first one. */
  readonly waits?: number
  /** A repetition in the same process waits for the first one, as the same read through a cache does. */
  readonly joins?: true
  /** What a repetition of what was done tells besides. */
  readonly tells?: string
  /** What is wrong in the end, after the repetition; `isDone` says if the request was done by the first one. */
  check?(isDone: boolean): Promise<readonly string[]>
}

export interface Scenario {
  readonly name: string
  readonly served: Served
  /** The only failures that are tried. */
  readonly kinds?: readonly Kind[]
  /** Collections that are no part of what the request does. */
  readonly leftOut?: readonly string[]
  prepare(place: Place): Promise<Step>
}

/** A failure that went wrong. */
export interface Found {
  readonly scenario: string
  readonly kind: Kind
  readonly at: number
  readonly call: string
  readonly problem: string
}

interface Clean {
  readonly calls: readonly string[]
  readonly answer: Answer
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly told: readonly string[]
}

/** What is tried: a store for each case, and the failures; of one database, they are those on the way to it. */
export interface Ground {
  open(): Store
  readonly faults?: () => Faults
  readonly kinds?: readonly Kind[]
}

/** What a request does when nothing fails. */
async function cleanRun(ground: Ground, scenario: Scenario): Promise<Clean> {
  const place = new Place(ground.open(), scenario.served, ground.faults)
  await place.start()
  const step = await scenario.prepare(place)
  const before = await place.view(scenario.leftOut)
  place.told.length = 0
  place.faults.arm()
  const answer = await step.send()
  const { calls } = place.faults
  place.faults.disarm()
  const after = await place.view(scenario.leftOut)
  const told = place.told.map(({ what }) => what)
  const wrong = [...((await step.check?.(true)) ?? [])]
  if (calls.length === 0) wrong.push(`nothing was called: ${answer.text}`)
  await place.clear()
  await place.close()
  if (wrong.length > 0) throw new Error(`${scenario.name}: ${wrong.join('; ')}`)
  return { calls, answer, before, after, told }
}

/** Which cases to try: each `every`th, from `from` on. */
export interface Choice {
  readonly kinds?: readonly Kind[]
  readonly every?: number
  readonly from?: number
}

/** Goes through the calls of a scenario. */
export async function explore(
  ground: Ground,
  scenario: Scenario,
  { kinds = ground.kinds ?? KINDS, every = 1, from = 0 }: Choice = {},
): Promise<{ readonly cases: number; readonly found: readonly Found[] }> {
  const right = await cleanRun(ground, scenario)
  const tried = kinds.filter((kind) => scenario.kinds?.includes(kind) ?? true)
  const cases = tried
    .flatMap((kind) => right.calls.map((call, at) => ({ scenario: scenario.name, kind, at, call })))
    .filter((_, number) => number % every === from % every)
  const found: Found[] = []
  for (const one of cases) {
    const problems = await failedRun(ground, scenario, right, one).catch((error: unknown) => [
      `threw ${error instanceof Error ? error.stack : String(error)}`,
    ])
    found.push(...problems.map((problem) => ({ ...one, problem })))
  }
  return { cases: cases.length, found }
}

/** Events that say of a request that it was refused. */
const REFUSED: ReadonlySet<string> = new Set(['event sign-in-failed', 'event code-failed'])

async function failedRun(
  ground: Ground,
  scenario: Scenario,
  right: Clean,
  { kind, at }: { readonly kind: Kind; readonly at: number },
): Promise<readonly string[]> {
  const place = new Place(ground.open(), scenario.served, ground.faults)
  try {
    return await judged(place, scenario, right, { kind, at })
  } finally {
    place.faults.disarm()
    await place.clear()
    await place.close()
  }
}

async function judged(
  place: Place,
  scenario: Scenario,
  right: Clean,
  { kind, at }: { readonly kind: Kind; readonly at: number },
): Promise<readonly string[]> {
  await place.start()
  const step = await scenario.prepare(place)
  const first = await failing(place, kind, at, step)
  const between = await place.view(scenario.leftOut)
  const isDone = same(between, right.after)
  const problems: string[] = []
  if (![0, 503, right.answer.status].includes(first.status)) {
    problems.push(`${first.status} ${first.text}`)
  }
  if (first.status !== right.answer.status) {
    const how = isDone ? 'done' : same(between, right.before) ? 'untouched' : 'half done'
    const answer = await sentAgain(place, step)
    const again = { answer, end: await place.view(scenario.leftOut) }
    for (const one of wrongAgain(step, right, isDone, again)) problems.push(`${how}, ${one}`)
  } else if (!isDone && !step.lax) {
    // What was acknowledged is there.
    problems.push(`${first.status}: ${difference(right.after, between)}`)
  }
  problems.push(...untrueOf(place, step, right))
  problems.push(...((await step.check?.(isDone)) ?? []))
  return problems
}

/** Sends the request, of which a call fails. */
async function failing(place: Place, kind: Kind, at: number, step: Step): Promise<Answer> {
  // A process whose requests have little time, for this one alone.
  const isHeld = kind === 'late' || kind === 'slow'
  if (isHeld || kind === 'stuck') await place.start(kind)
  place.told.length = 0
  place.faults.arm(kind, at)
  const answer = await step.send()
  place.faults.disarm()
  // With a key or through a cache, a repetition waits for the first request of its process, which never ends here.
  const isWaitedFor = kind === 'stuck' && (step.waits !== undefined || step.joins)
  if (isHeld || isWaitedFor || place.faults.isGone) await place.start()
  return answer
}

async function sentAgain(place: Place, step: Step): Promise<Answer> {
  const answer = await step.send()
  if (answer.status !== 409 || step.waits === undefined) return answer
  place.later(step.waits)
  return step.send()
}

/** What was told that never happened. */
function untrueOf(place: Place, { tells }: Step, { told }: Clean): readonly string[] {
  const untrue = place.told.filter(({ what }) => {
    return !told.includes(what) && !REFUSED.has(what) && what !== tells
  })
  return untrue.map(({ what }) => `told ${what}`)
}

/** What is wrong after a request was sent again. */
function wrongAgain(
  step: Step,
  right: Clean,
  isDone: boolean,
  { answer, end }: { readonly answer: Answer; readonly end: readonly string[] },
): readonly string[] {
  const { status, text } = answer
  const isSpent = step.oneUse === true && status >= 400 && status < 500
  const mayBe = (isDone || step.lax) && step.done?.includes(status)
  const wrong: string[] = []
  if (status !== right.answer.status && !mayBe && !isSpent) wrong.push(`again ${status} ${text}`)
  const mayDiffer = isSpent || step.lax || (isDone && step.twice)
  if (!mayDiffer && !same(end, right.after)) {
    wrong.push(`in the end ${difference(right.after, end)}`)
  }
  return wrong
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.join('\n') === b.join('\n')
}

/** What of `b` is not in `a`, and the other way. */
function difference(a: readonly string[], b: readonly string[]): string {
  const [left, more] = [[...a], [] as string[]]
  for (const line of b) {
    const at = left.indexOf(line)
    if (at < 0) more.push(line)
    else left.splice(at, 1)
  }
  const told: string[] = []
  for (const line of left) {
    const [name = ''] = line.split(' ', 1)
    const at = more.findIndex((one) => one.startsWith(`${name} `))
    const [other] = at < 0 ? [] : more.splice(at, 1)
    told.push(other ? `${name}: ${fieldsOf(line, other)}` : `- ${line}`)
  }
  return [...told, ...more.map((line) => `+ ${line}`)].map((line) => `\n  ${line}`).join('')
}

function fieldsOf(line: string, other: string): string {
  const [a, b] = [line, other].map((text) => JSON.parse(text.slice(text.indexOf(' ') + 1)))
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  const text = (value: unknown) => JSON.stringify(value) ?? 'none'
  return names
    .filter((name) => text(a[name]) !== text(b[name]))
    .map((name) => `${name} ${text(a[name])} -> ${text(b[name])}`)
    .join(', ')
}
