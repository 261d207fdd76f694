/**
 * `fieldgate/openapi`: the OpenAPI document of an app.
 *
 * @module
 */

export { type DocumentOptions, document, type OpenApiVersion } from './document.ts'
export { type OpenApiOptions, openapi } from './openapi.ts'
export type {
  Content,
  Header,
  OpenApiDocument,
  Operation,
  Parameter,
  PathItem,
  ResponseObject,
  Responses,
  Schema,
  Security,
} from './specification.ts'
