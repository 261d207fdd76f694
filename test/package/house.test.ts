import { describe, expect, it } from 'vitest'
import { circlesOf, foldersOf, importsOf, planOf } from '../../scripts/house.ts'

describe.each(['src', 'extras', 'adapters'])('the folders of %s', (top) => {
  const imports = importsOf(top)

  it('have no import circle, types included', () => {
    const circles = foldersOf(top, imports).flatMap((folder) => planOf(folder, imports).circles)
    expect([...circles, ...circlesOf(imports)]).toEqual([])
  })

  it('are named by what they hold', () => {
    const vague = /^(?:basics|common|shared|utils?|helpers?|misc|lib)$/
    const names = foldersOf(top, imports).flatMap((folder) => folder.split('/'))
    expect(names.filter((name) => vague.test(name))).toEqual([])
  })
})

/** The most rooms and arrows of what is read most. */
const MOST: Record<string, readonly [rooms: number, arrows: number]> = {
  src: [22, 90],
  'adapters/stores/sqlite': [10, 30],
  'adapters/stores/postgres': [10, 30],
  'adapters/stores/mongodb': [10, 30],
}
/** The most rooms of any folder: more are a list in alphabetical order, in which nothing is found. */
const MOST_ROOMS = 22

it.each(['src', 'extras', 'adapters'])('no folder of %s has too many rooms', (top) => {
  const imports = importsOf(top)
  const plans = foldersOf(top, imports).map((folder) => planOf(folder, imports))
  const crowded = plans.filter(({ folder, rooms, arrows }) => {
    const [mostRooms, mostArrows] = MOST[folder] ?? [MOST_ROOMS, Number.POSITIVE_INFINITY]
    return rooms.length > mostRooms || arrows.length > mostArrows
  })
  expect(crowded.map(({ folder }) => folder)).toEqual([])
})

describe('the plan of a folder', () => {
  const files = (arrows: Record<string, string[]>) =>
    new Map(Object.entries(arrows).map(([from, to]) => [from, new Set(to)]))

  it('counts each pair of rooms once', () => {
    const imports = files({
      'a/x/1.ts': ['a/y.ts', 'a/x/2.ts'],
      'a/x/2.ts': ['a/y.ts', 'b/z.ts'],
      'a/y.ts': [],
      'b/z.ts': [],
    })
    expect(planOf('a', imports)).toEqual({
      folder: 'a',
      rooms: ['x', 'y.ts'],
      arrows: [['x', 'y.ts']],
      floors: 2,
      circles: [],
    })
  })

  it('finds circles of files and of rooms', () => {
    const imports = files({
      'a/x/1.ts': ['a/y.ts'],
      'a/x/2.ts': [],
      'a/y.ts': ['a/x/2.ts', 'a/w.ts'],
      'a/w.ts': [],
    })
    expect(planOf('a', imports).circles).toEqual([['x', 'y.ts']])
    expect(planOf('a', imports).floors).toBe(2)
    expect(circlesOf(imports)).toEqual([])
  })
})
