import { foreign } from '../client/foreign.ts'

foreign(import.meta.dirname, 'mounted.ts', {
  compiles: "the program compiles with the packages' own types",
  passes: "the program's own tests pass",
  files: ['beside.ts', 'refusals.ts', 'signed-in.ts'],
})
