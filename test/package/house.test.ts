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
