import { contractElsewhere } from './runtimes.ts'

contractElsewhere('memory')
