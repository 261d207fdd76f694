import { contractElsewhere } from './runtimes.ts'

contractElsewhere('threads')
