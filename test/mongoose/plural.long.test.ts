import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { collectionName } from '../../src/model/plural.ts'
import { mongoose } from './installation.ts'

/** The part of Mongoose that is used here. */
interface Pluralizing {
  pluralize(): (name: string) => string
}

const root = join(import.meta.dirname, '../..')
let mongooses: (name: string) => string
beforeAll(async () => {
  mongooses = (await mongoose<Pluralizing>('Mongoose 9')).pluralize()
}, 300_000)

const wrong = (names: Iterable<string>) =>
  [...names].filter((name) => collectionName(name) !== mongooses(name))

it('default collection names are those of Mongoose: for the words of this repository', () => {
  const files = globSync('{src,docs,adapters,examples}/**/*.{ts,md}', { cwd: root })
  const words = files.flatMap((file) => readFileSync(join(root, file), 'utf8').match(/\w+/g) ?? [])
  const names = new Set(words)
  expect(names.size).toBeGreaterThan(8000)
  expect(wrong(names)).toEqual([])
})

it('for every ending of three letters', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz', '7']
  const pairs = letters.flatMap((one) => letters.map((other) => one + other))
  const starts = ['', 'a', 'F', 'wo', 'qu', 'hu', 'al', 'matrix']
  const names = starts.flatMap((start) =>
    pairs.flatMap((pair) => letters.map((letter) => start + letter + pair)),
  )
  expect(wrong(names)).toEqual([])
})

it('for words with rules of their own, at every place of a name', () => {
  const words =
    `advice alias axis buffalo bus cactus cafe calf child deer equipment fish focus fungus goose half hive human index
    indix information knife life louse man matrix media money moose mouse news nucleus octopus ox paper person potato
    quiz rice series sheep species status testis tomato vertix virus wife woman é É 日本 ſ K | - _ 1`.split(
      /\s+/,
    )
  const forms = words.flatMap((word) => [
    word,
    word.toUpperCase(),
    word[0]?.toUpperCase() + word.slice(1),
  ])
  const parts = ['', 's', 'Row', 'x', 'y', 'fe', 'us', 'um', 'sis', 'V2', ' ', '\n']
  const names = forms.flatMap((form) => parts.flatMap((part) => [form + part, part + form]))
  expect(wrong(names)).toEqual([])
})
