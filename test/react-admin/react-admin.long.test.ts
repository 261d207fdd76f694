import { foreign } from '../client/foreign.ts'

foreign(import.meta.dirname, 'providers.ts')
