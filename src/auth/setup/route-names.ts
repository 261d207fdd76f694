/** The names of routes, and who may call them. */

/**
 * The routes of accounts, and those of sessions (only with refresh tokens), of email verification and of account
 * deletion.
 */
export type RouteName =
  | 'register'
  | 'login'
  | 'social'
  | 'forgotPassword'
  | 'resetPassword'
  | 'changePassword'
  | 'refresh'
  | 'logout'
  | 'logoutAll'
  | 'listSessions'
  | 'endSession'
  | 'me'
  | 'listUsers'
  | 'getUser'
  | 'updateUser'
  | 'modifyRoles'
  | 'endUserSessions'
  | 'sendEmailCode'
  | 'verifyEmail'
  | 'deleteUser'

/** The routes of the methods that come with fieldgate; each is there with its method. */
export type MethodRouteName =
  | 'confirmLogin'
  | 'listKeys'
  | 'createKey'
  | 'deleteKey'
  | 'deleteUserKeys'
  | 'createTotp'
  | 'confirmTotp'
  | 'deleteTotp'
  | 'createRecoveryCodes'
  | 'sendLoginCode'
  | 'beginPasskey'
  | 'createPasskey'
  | 'listPasskeys'
  | 'renamePasskey'
  | 'deletePasskey'
  | 'beginPasskeyLogin'
  | 'passkeyLogin'
  | 'beginOidc'
  | 'finishOidc'
  | 'oidcLogin'
  | (string & {})

/** Who may call a route. */
export type Access = 'anyone' | 'signed in' | 'self or admin' | 'admin'
