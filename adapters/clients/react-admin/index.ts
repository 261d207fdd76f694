/**
 * `fieldgate/react-admin`: the data provider and the auth provider of react-admin, over `fieldgate/client`. Choose it for an
 * admin interface of your app. It imports nothing of react-admin.
 *
 * @module
 */

export type { AnyClient, NamedRecord } from '../records.ts'
export {
  type ReactAdminAuth,
  type ReactAdminAuthOptions,
  type ReactAdminIdentity,
  reactAdminAuth,
} from './auth.ts'
export {
  type Identifier,
  type ReactAdminData,
  type ReactAdminDataOptions,
  reactAdminData,
} from './data.ts'
