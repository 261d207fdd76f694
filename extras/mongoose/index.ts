/**
 * `fieldgate/mongoose`: models from Mongoose's, for the collections that it wrote.
 *
 * @module
 */

export {
  type Additions,
  type FromMongoose,
  fromMongoose,
  type SchemaNames,
} from './from-mongoose.ts'
export type { ReportRow } from './report.ts'
export type { MongooseModel, MongooseSchema } from './structure.ts'
