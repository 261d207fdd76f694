import { withService } from '../services/shared.ts'
import { processOn } from './peers.ts'
import { races } from './races.ts'

await withService('mongo', ({ url }) => {
  const address = new URL(url)
  address.pathname = `/auth${process.pid}`
  const opener = new URL('stores/mongodb.ts', import.meta.url)
  races('two processes on MongoDB', processOn(opener, address.href))
})
