import { sqliteStore } from '../../adapters/stores/sqlite/node.ts'
import { slowLines } from './slow-lines.ts'

console.log(JSON.stringify(await slowLines(sqliteStore())))
