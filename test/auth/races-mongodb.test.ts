import { withService } from '../services/shared.ts'
import { races } from './races.ts'

await withService('mongo', ({ url }) => {
  const address = new URL(url)
  address.pathname = `/auth${process.pid}`
  races({
    name: 'MongoDB',
    opener: new URL('stores/mongodb.ts', import.meta.url),
    place: async () => address.href,
  })
})
