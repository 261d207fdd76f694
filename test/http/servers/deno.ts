import { serve } from '../../../adapters/runtimes/deno.ts'
import { served } from './served.ts'

const { url } = await serve(await served(), { port: 0, hostname: '127.0.0.1' })
console.log(`listening ${new URL(url).port}`)
