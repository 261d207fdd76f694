/**
 * `npm run mutants -- [--count 100] [--seed 1] [--only 3,17] [--all] [folder]…`: changes one place of the code at a time, and says
 * which changes no test notices. The nearest tests run first, all of `npm test` last (with `--all`, every file): what
 * none of them notices takes ten minutes. Folders are `src/records`, `src/auth` and `adapters/stores` unless you name others.
 * The same seed makes the same changes while the code is the same; each file is put back when its tests have ended.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { parseSync } from 'oxc-parser'

/** A change may make a loop that never ends. */
const LONGEST_MS = 1_200_000

/** What an operator becomes. */
const OTHER: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
}

interface Mutant {
  readonly file: string
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Syntax {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
})

const folders =
  positionals.length > 0 ? positionals : ['src/records', 'src/auth', 'adapters/stores']
const chosen = choose(folders.flatMap(mutantsIn), Number(values.count), Number(values.seed))
const only = values.only?.split(',').map(Number)
let [killed, tried] = [0, 0]
for (const [index, mutant] of chosen.entries()) {
  if (only && !only.includes(index)) continue
  const isKilled = kills(mutant)
  tried += 1
  if (isKilled) killed += 1
  console.log(`${isKilled ? 'killed  ' : 'SURVIVED'} ${index} ${told(mutant)}`)
}
console.log(`${killed} of ${tried} killed`)

/** The places of a folder that could be changed. */
function mutantsIn(folder: string): Mutant[] {
  return globSync(`${folder}/**/*.ts`)
    .sort()
    .flatMap((file) => {
      const source = readFileSync(file, 'utf8')
      const { program } = parseSync(file, source, { lang: 'ts', sourceType: 'module' })
      const found: Mutant[] = []
      walk(program, (node) => {
        for (const text of changesOf(node, source)) {
          found.push({ file, start: node.start, end: node.end, text })
        }
      })
      return found
    })
}

function walk(node: unknown, seen: (node: Syntax) => void): void {
  if (typeof node !== 'object' || node === null) return
  const one = node as Syntax
  if (isOfTypes(one)) return
  if (typeof one.type === 'string') seen(one)
  for (const member of Object.values(one)) walk(member, seen)
}

/** Types have no effect. */
function isOfTypes({ type }: Syntax): boolean {
  return /^TS/.test(type) && type !== 'TSAsExpression' && type !== 'TSNonNullExpression'
}

/** What a place may become. */
function changesOf(node: Syntax, source: string): string[] {
  const textOf = (one: unknown) => source.slice((one as Syntax).start, (one as Syntax).end)
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const other = OTHER[String(node.operator)]
      // A sum of strings would not be one any more.
      if (!other || (node.operator === '+' && /['`]/.test(textOf(node)))) return []
      return [`${textOf(node.left)} ${other} ${textOf(node.right)}`]
    }
    case 'UnaryExpression':
      return node.operator === '!' ? [textOf(node.argument)] : []
    case 'ConditionalExpression':
      return [`(${textOf(node.test)}) ? (${textOf(node.alternate)}) : (${textOf(node.consequent)})`]
    case 'IfStatement':
      return node.alternate ? [] : [textOf(node).replace(textOf(node.test), 'false')]
    case 'Literal':
      return otherLiteral(node.value)
    case 'ThrowStatement':
      return ['{}']
    default:
      return []
  }
}

function otherLiteral(value: unknown): string[] {
  if (typeof value === 'boolean') return [String(!value)]
  return typeof value === 'number' ? [String(value + 1)] : []
}

/** `count` of them, by a seeded shuffle. */
function choose(all: readonly Mutant[], count: number, seed: number): Mutant[] {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return all
    .map((mutant) => [random(), mutant] as const)
    .sort(([a], [b]) => a - b)
    .slice(0, count)
    .map(([, mutant]) => mutant)
}

/** Whether a test fails with the change; the nearest tests run first. */
function kills({ file, start, end, text }: Mutant): boolean {
  const source = readFileSync(file, 'utf8')
  writeFileSync(file, source.slice(0, start) + text + source.slice(end))
  try {
    const isGreen = (args: readonly string[]) =>
      spawnSync('vitest', ['run', '--bail', '1', '--passWithNoTests', ...args], {
        timeout: LONGEST_MS,
      }).status === 0
    return !testsFor(file).every(isGreen)
  } finally {
    writeFileSync(file, source)
  }
}

/** The arguments of the runs that look at a file. */
function testsFor(file: string): string[][] {
  const mode = values.all ? [] : ['--mode', 'short']
  const nearest = ['--project', 'unit', `/${basename(file, '.ts')}`]
  const [, store] = /^adapters\/stores\/(\w+)\//.exec(file) ?? []
  if (store) {
    const contract = [store, ...(store === 'sqlite' ? ['d1'] : [])].map(
      (name) => `test/contract/store/${name}`,
    )
    return [nearest, [...mode, ...contract], [...mode, 'test/stores/', 'test/records/'], mode]
  }
  const area = file.split('/')[1] ?? ''
  return [
    nearest,
    ['--project', 'unit', `test/${area}/`],
    ['--project', 'unit'],
    [...mode, `test/${area}/`, 'test/http/'],
    mode,
  ]
}

function told({ file, start, end, text }: Mutant): string {
  const source = readFileSync(file, 'utf8')
  const line = source.slice(0, start).split('\n').length
  const short = (what: string) => what.replace(/\s+/g, ' ').slice(0, 60)
  return `${file}:${line} ${short(source.slice(start, end))} → ${short(text)}`
}
