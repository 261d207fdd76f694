import process from 'node:process'
import { journey } from './journey.ts'

console.log(JSON.stringify(await journey(process.argv.at(-1) ?? '')))
