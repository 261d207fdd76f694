import { serve } from '../../../../adapters/runtimes/bun.ts'
import { measured } from './measured.ts'

const { url } = await serve(measured(), { port: 0, hostname: '127.0.0.1' })
console.log(`listening ${new URL(url).port}`)
