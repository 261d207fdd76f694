import { foreign } from '../client/foreign.ts'
import { withService } from '../services/shared.ts'

await withService('mongo', ({ url }) => {
  foreign(import.meta.dirname, 'main.ts', {
    files: [
      'beside.ts',
      'finding.ts',
      'mixed.ts',
      'recursive.ts',
      'report.ts',
      'round-trips.ts',
      'rules.ts',
      'versions.ts',
      'zoo.ts',
    ],
    compiles: 'models and schemas of Mongoose 8 and 9 are what fromMongoose takes',
    passes: 'documents of both are read, written back and written anew without a change',
    projects: ['tsconfig.json', 'tsconfig.8.json'],
    environment: { MONGODB: url },
  })
})
