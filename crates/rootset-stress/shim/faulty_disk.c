/* A disk that tells what was written to it, and fails when told to.
 *
 * Loaded with LD_PRELOAD, it stands between a program and libc and sees every open, write, sync, truncate, rename and
 * unlink of a file below one folder, whoever makes it: SQLite or the program's own code. Reads and the shared memory of
 * SQLite (-shm, which recovery never trusts) pass by.
 *
 *   ROOTSET_DISK_ROOT  the folder, absolute; without it nothing is seen
 *   ROOTSET_DISK_LOG   a file outside of it to which every call is appended, with what was written (see disk/log.rs)
 *   ROOTSET_DISK_FAIL  "CALL:ERROR:TIMES": the call of that number (from 0) fails with EIO, ENOSPC or SHORT (a write that
 *                      writes half), "once" or "onwards". ENOSPC strikes what needs room only: a write over what is there
 *                      already succeeds on a full disk, too.
 *   ROOTSET_DISK_ROOM  how many bytes files may grow altogether: a disk that is small. What is truncated or removed is room
 *                      again.
 *
 * Calls are numbered in the order in which they end, which is the order of the log. Linux with glibc only.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN = 1, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, RMDIR, OUTPUT };
enum flag { CREATED = 1, EMPTIED = 2, FOLDER = 4, GROWS = 8 };
enum fault { NONE, FAULT_EIO, FAULT_ENOSPC, FAULT_SHORT };

#define FILES_MAX 65536

struct record {
  uint8_t kind;
  uint8_t flags;
  uint16_t path_bytes;
  uint32_t data_bytes;
  uint64_t call;
  uint64_t inode;
  uint64_t offset;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_bytes;
static int log_file = -1;
static uint64_t inodes[FILES_MAX]; /* 0: not ours */
static uint64_t calls;
static enum fault fault;
static uint64_t fault_call;
static int fault_is_onwards;
static int fault_has_struck;
static int room_is_limited;
static int64_t room;

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("ROOTSET_DISK_ROOT");
  if (!folder || strlen(folder) >= sizeof root) return;
  strcpy(root, folder);
  root_bytes = strlen(root);
  const char *log = getenv("ROOTSET_DISK_LOG");
  if (log) {
    log_file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_file < 0) abort();
  }
  const char *fail = getenv("ROOTSET_DISK_FAIL");
  const char *bytes = getenv("ROOTSET_DISK_ROOM");
  if (bytes) {
    room_is_limited = 1;
    room = atoll(bytes);
  }
  char error[16], times[16];
  unsigned long long call;
  if (fail) {
    if (sscanf(fail, "%llu:%15[^:]:%15s", &call, error, times) != 3) abort();
    fault_call = call;
    fault = !strcmp(error, "EIO") ? FAULT_EIO : !strcmp(error, "ENOSPC") ? FAULT_ENOSPC : FAULT_SHORT;
    fault_is_onwards = !strcmp(times, "onwards");
  }
}

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}

/* Both are called with the lock held. A log that cannot be written would make every conclusion from it wrong. */
static void append(const void *bytes, size_t count) {
  const char *from = bytes;
  while (count > 0) {
    ssize_t written = syscall(SYS_write, log_file, from, count);
    if (written <= 0) abort();
    from += written;
    count -= (size_t)written;
  }
}

static void tell(enum kind kind, int flags, uint64_t inode, uint64_t offset, const char *path, const void *data,
                 size_t data_bytes) {
  if (log_file < 0) return;
  struct record record = {(uint8_t)kind, (uint8_t)flags, (uint16_t)(path ? strlen(path) : 0), (uint32_t)data_bytes,
                          calls ? calls - 1 : 0, inode, offset};
  append(&record, sizeof record);
  if (path) append(path, strlen(path));
  if (data_bytes) append(data, data_bytes);
}

/* Counts a call; says how it fails, if it does. */
static enum fault count(int grows) {
  uint64_t call = calls++;
  if (fault == NONE || call < fault_call) return NONE;
  if (fault == FAULT_ENOSPC && !grows) return NONE;
  if (!fault_is_onwards && fault_has_struck) return NONE;
  if (!fault_is_onwards && call != fault_call) return NONE;
  enum fault now = fault == FAULT_SHORT && fault_has_struck ? FAULT_ENOSPC : fault;
  if (now == FAULT_ENOSPC && !grows) return NONE;
  fault_has_struck = 1;
  return now;
}

static int fails(int grows) {
  switch (count(grows)) {
    case FAULT_EIO: errno = EIO; return 1;
    case FAULT_ENOSPC: errno = ENOSPC; return 1;
    default: return 0;
  }
}

/* Takes room for a file that grows, or gives it back; 0 if there is not as much. */
static int takes(int64_t bytes) {
  if (!room_is_limited) return 1;
  if (bytes > 0 && bytes > room) { errno = ENOSPC; return 0; }
  room -= bytes;
  return 1;
}

/* The absolute path in `out` and 1, if it is below the root. */
static int is_ours(int folder, const char *path, char *out) {
  if (!root_bytes || !path) return 0;
  char base[PATH_MAX] = "";
  if (path[0] != '/') {
    char link[64];
    snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, base, sizeof base - 2);
    if (length < 0) return 0;
    base[length] = '/';
    base[length + 1] = 0;
  }
  if (snprintf(out, PATH_MAX, "%s%s", base, path) >= PATH_MAX) return 0;
  return !strncmp(out, root, root_bytes) && (out[root_bytes] == '/' || out[root_bytes] == 0);
}

static uint64_t inode_of(int file) { return file >= 0 && file < FILES_MAX ? inodes[file] : 0; }

static int opened(int folder, const char *path, int flags, mode_t mode) {
  int (*open_real)(int, const char *, int, ...) = REAL(openat);
  char full[PATH_MAX];
  if (!is_ours(folder, path, full) || (strlen(full) > 4 && !strcmp(full + strlen(full) - 4, "-shm")))
    return open_real(folder, path, flags, mode);
  pthread_mutex_lock(&lock);
  struct stat before;
  int was_there = !fstatat(folder, path, &before, 0);
  int creates = (flags & O_CREAT) && !was_there;
  int file = -1;
  if (!fails(creates)) {
    file = open_real(folder, path, flags, mode);
    struct stat now;
    int told = 0;
    if (file >= 0 && file < FILES_MAX && !fstat(file, &now)) {
      inodes[file] = now.st_ino;
      int is_emptied = was_there && (flags & O_TRUNC) && before.st_size > 0;
      if (is_emptied) takes(-(int64_t)before.st_size);
      told = (creates ? CREATED | GROWS : 0) | (is_emptied ? EMPTIED : 0) | (S_ISDIR(now.st_mode) ? FOLDER : 0);
    }
    int error = errno;
    tell(OPEN, told, file < 0 ? 0 : inodes[file], 0, full, NULL, 0);
    errno = error;
  }
  pthread_mutex_unlock(&lock);
  return file;
}

#define MODE_OF(flags) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE_OF(flags) return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE_OF(flags) return opened(folder, path, flags, mode); }

int close(int file) {
  if (inode_of(file)) {
    pthread_mutex_lock(&lock);
    inodes[file] = 0;
    pthread_mutex_unlock(&lock);
  }
  return REAL(close)(file);
}

static ssize_t written(int file, const void *data, size_t bytes, off_t offset, int is_at) {
  uint64_t inode = inode_of(file);
  if (!inode && file != STDOUT_FILENO)
    return is_at ? REAL(pwrite)(file, data, bytes, offset) : REAL(write)(file, data, bytes);
  pthread_mutex_lock(&lock);
  if (!inode) {
    ssize_t done = REAL(write)(file, data, bytes);
    if (done > 0 && root_bytes) tell(OUTPUT, 0, 0, 0, NULL, data, (size_t)done);
    pthread_mutex_unlock(&lock);
    return done;
  }
  struct stat now = {0};
  fstat(file, &now);
  if (!is_at) offset = fcntl(file, F_GETFL) & O_APPEND ? now.st_size : lseek(file, 0, SEEK_CUR);
  int grows = offset + (off_t)bytes > now.st_size;
  enum fault struck = count(grows);
  ssize_t done = -1;
  if (struck == FAULT_EIO) errno = EIO;
  else if (struck == FAULT_ENOSPC || !takes(grows ? offset + (int64_t)bytes - now.st_size : 0)) errno = ENOSPC;
  else {
    if (struck == FAULT_SHORT && bytes > 1) bytes /= 2;
    done = is_at ? REAL(pwrite)(file, data, bytes, offset) : REAL(write)(file, data, bytes);
    int error = errno;
    if (done > 0) tell(WRITE, grows ? GROWS : 0, inode, (uint64_t)offset, NULL, data, (size_t)done);
    errno = error;
  }
  pthread_mutex_unlock(&lock);
  return done;
}

ssize_t write(int file, const void *data, size_t bytes) { return written(file, data, bytes, 0, 0); }
ssize_t pwrite(int file, const void *data, size_t bytes, off_t offset) { return written(file, data, bytes, offset, 1); }
ssize_t pwrite64(int file, const void *data, size_t bytes, off64_t offset) {
  return written(file, data, bytes, offset, 1);
}

/* A short write, as every caller must expect one. */
ssize_t writev(int file, const struct iovec *parts, int count_of_parts) {
  if (!inode_of(file) && file != STDOUT_FILENO) return REAL(writev)(file, parts, count_of_parts);
  for (int part = 0; part < count_of_parts; part++)
    if (parts[part].iov_len) return written(file, parts[part].iov_base, parts[part].iov_len, 0, 0);
  return 0;
}

/* Callers fall back to reading and writing. */
ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t bytes, unsigned flags) {
  if (inode_of(to)) { errno = EINVAL; return -1; }
  return REAL(copy_file_range)(from, from_offset, to, to_offset, bytes, flags);
}

static int synced(int file, int (*sync_real)(int)) {
  uint64_t inode = inode_of(file);
  if (!inode) return sync_real(file);
  pthread_mutex_lock(&lock);
  int outcome = -1;
  if (!fails(0)) {
    outcome = sync_real(file);
    if (!outcome) tell(SYNC, 0, inode, 0, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  return outcome;
}

int fsync(int file) { return synced(file, REAL(fsync)); }
int fdatasync(int file) { return synced(file, REAL(fdatasync)); }

static int truncated(int file, off_t bytes) {
  uint64_t inode = inode_of(file);
  if (!inode) return REAL(ftruncate)(file, bytes);
  pthread_mutex_lock(&lock);
  struct stat now = {0};
  fstat(file, &now);
  int grows = bytes > now.st_size, outcome = -1;
  if (!fails(grows) && takes(bytes - now.st_size)) {
    outcome = REAL(ftruncate)(file, bytes);
    if (!outcome) tell(TRUNCATE, grows ? GROWS : 0, inode, (uint64_t)bytes, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  return outcome;
}

int ftruncate(int file, off_t bytes) { return truncated(file, bytes); }
int ftruncate64(int file, off64_t bytes) { return truncated(file, bytes); }

/* Not seen by the log: refused, so that callers write instead. */
int fallocate(int file, int mode, off_t offset, off_t bytes) {
  if (inode_of(file)) { errno = EOPNOTSUPP; return -1; }
  return REAL(fallocate)(file, mode, offset, bytes);
}
int fallocate64(int file, int mode, off64_t offset, off64_t bytes) { return fallocate(file, mode, offset, bytes); }

int rename(const char *from, const char *to) {
  char full[PATH_MAX], full_to[PATH_MAX];
  if (!is_ours(AT_FDCWD, from, full) || !is_ours(AT_FDCWD, to, full_to)) return REAL(rename)(from, to);
  pthread_mutex_lock(&lock);
  int outcome = -1;
  if (!fails(0)) {
    outcome = REAL(rename)(from, to);
    if (!outcome) tell(RENAME, 0, 0, 0, full, full_to, strlen(full_to));
  }
  pthread_mutex_unlock(&lock);
  return outcome;
}

static int removed(int folder, const char *path, int flags) {
  char full[PATH_MAX];
  int (*unlink_real)(int, const char *, int) = REAL(unlinkat);
  if (!is_ours(folder, path, full) || (strlen(full) > 4 && !strcmp(full + strlen(full) - 4, "-shm")))
    return unlink_real(folder, path, flags);
  pthread_mutex_lock(&lock);
  int outcome = -1;
  struct stat before = {0};
  int is_file = !fstatat(folder, path, &before, 0) && S_ISREG(before.st_mode);
  if (!fails(0)) {
    outcome = unlink_real(folder, path, flags);
    if (!outcome && is_file) takes(-(int64_t)before.st_size);
    if (!outcome) tell(flags & AT_REMOVEDIR ? RMDIR : UNLINK, 0, 0, 0, full, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  return outcome;
}

int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return removed(folder, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *path, mode_t mode) {
  char full[PATH_MAX];
  if (!is_ours(AT_FDCWD, path, full)) return REAL(mkdir)(path, mode);
  pthread_mutex_lock(&lock);
  struct stat before;
  int is_new = stat(path, &before) != 0, outcome = -1;
  if (!fails(is_new)) {
    outcome = REAL(mkdir)(path, mode);
    int error = errno;
    if (!outcome) tell(MKDIR, GROWS, 0, 0, full, NULL, 0);
    errno = error;
  }
  pthread_mutex_unlock(&lock);
  return outcome;
}
