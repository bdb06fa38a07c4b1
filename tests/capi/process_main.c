/*
 * What a process may do with the library as a file: load and unload it, twice at once, after a fork, beside another
 * LLVM. It prints nothing, as nothing here may; its exit status is the number of the line that failed, modulo 250, or
 * 0.
 *
 * usage: process_main reload LIBRARY TIMES | two LIBRARY COPY | fork LIBRARY | forks LIBRARY TIMES | moved FOLDER
 *        process_main after OTHER LIBRARY
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "padlock/padlock.h"

#define EXPECT(condition)                        \
  do {                                           \
    if (!(condition)) _exit(__LINE__ % 250 + 1); \
  } while (0)

static const char kProgram[] =
    "program pad(x: f32[N], lo: dim) where N >= 0, 0 <= lo <= 8\n"
    "{ y = pad(x, low = [lo], high = [-(N + lo) mod 8], value = 7) return y }";

/* The functions that a program takes from a library that it loads itself. */
#define FUNCTIONS(X) \
  X(context_create)  \
  X(context_release) \
  X(program_parse)   \
  X(program_release) \
  X(program_compile) \
  X(kernel_release)  \
  X(kernel_bind)     \
  X(call_release)    \
  X(call_launch)     \
  X(tuner_create)    \
  X(tuner_run)       \
  X(tuner_release)
struct functions {
#define DECLARE(name) __typeof__(&padlock_##name) name;
  FUNCTIONS(DECLARE)
};

static void* load(const char* file, struct functions* api) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  EXPECT(library != NULL);
#define FIND(name)                                        \
  *(void**)&api->name = dlsym(library, "padlock_" #name); \
  EXPECT(api->name != NULL);
  FUNCTIONS(FIND)
  return library;
}

static int threads(void) {
  int count = 0;
  DIR* const tasks = opendir("/proc/self/task");
  EXPECT(tasks != NULL);
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Whether the process comes to have one thread: the kernel lists a thread for a moment after it was joined. */
static int one_thread(void) {
  const struct timespec moment = {0, 1000000};
  for (int i = 0; i < 10000 && threads() != 1; ++i) nanosleep(&moment, NULL);
  return threads() == 1;
}

struct session {
  padlock_context* context;
  padlock_kernel* kernel;
};

static struct session begin(const struct functions* api) {
  struct session made;
  padlock_program* program;
  EXPECT(api->context_create(NULL, &made.context, NULL) == PADLOCK_OK);
  EXPECT(api->program_parse(made.context, kProgram, sizeof kProgram - 1, &program, NULL) == PADLOCK_OK);
  EXPECT(api->program_compile(program, NULL, &made.kernel, NULL) == PADLOCK_OK);
  api->program_release(program);
  return made;
}

/* Pads `columns` elements; large ones take the context's threads. */
static void launch(const struct functions* api, const struct session* session, int columns) {
  const padlock_named_value dims[] = {{"N", columns}, {"lo", 3}};
  padlock_bind_options sizes;
  memset(&sizes, 0, sizeof sizes);
  sizes.struct_size = sizeof sizes;
  sizes.dims = dims;
  sizes.dim_count = 2;
  padlock_call* call;
  EXPECT(api->kernel_bind(session->kernel, &sizes, &call, NULL) == PADLOCK_OK);
  const int width = (columns + 3 + 7) / 8 * 8;
  float* const x = malloc((size_t)columns * sizeof *x);
  float* const y = malloc((size_t)width * sizeof *y);
  for (int i = 0; i < columns; ++i) x[i] = (float)(i % 1000);
  const void* const inputs[] = {x};
  void* const results[] = {y};
  EXPECT(api->call_launch(call, inputs, 1, results, 1, NULL, NULL) == PADLOCK_OK);
  for (int i = 0; i < width; ++i) EXPECT(y[i] == (i >= 3 && i < columns + 3 ? (float)((i - 3) % 1000) : 7.0f));
  free(x);
  free(y);
  api->call_release(call);
}

static void end(const struct functions* api, struct session* session) {
  api->kernel_release(session->kernel);
  api->context_release(session->context);
}

static void reload(const char* library, int times) {
  for (int i = 0; i < times; ++i) {
    struct functions api;
    void* const loaded = load(library, &api);
    EXPECT(threads() == 1); /* none before there is work */
    struct session session = begin(&api);
    launch(&api, &session, i % 10 == 0 ? 1 << 20 : 100);
    end(&api, &session);
    EXPECT(one_thread()); /* and none after it */
    EXPECT(dlclose(loaded) == 0);
  }
}

static void two(const char* first, const char* second) {
  struct functions one, other;
  void* const one_library = load(first, &one);
  void* const other_library = load(second, &other);
  EXPECT(one.context_create != other.context_create);
  struct session one_session = begin(&one), other_session = begin(&other);
  launch(&one, &one_session, 5000);
  launch(&other, &other_session, 6000);
  end(&one, &one_session);
  EXPECT(dlclose(one_library) == 0);
  launch(&other, &other_session, 7000);
  end(&other, &other_session);
  EXPECT(dlclose(other_library) == 0);
}

static void after_fork(const char* library) {
  struct functions api;
  load(library, &api);
  const pid_t child = fork();
  EXPECT(child >= 0);
  struct session session = begin(&api);
  launch(&api, &session, 1 << 20);
  end(&api, &session);
  if (child == 0) _exit(0);
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(status == 0);
}

/* What threads of a parent do while it forks: some compile, each time another program, and some launch. */
static struct {
  struct functions api;
  padlock_context* context; /* that compiles */
  struct session session;   /* that launches */
  atomic_int stops;
  atomic_int number;
} parent;

static padlock_status compile_another(void) {
  char text[256];
  const int size = snprintf(text, sizeof text,
                            "program pad(x: f32[N], lo: dim) where N >= 0, 0 <= lo <= 8\n"
                            "{ y = pad(x, low = [lo], high = [%d], value = 7) z = relu(y) return z }",
                            atomic_fetch_add(&parent.number, 1));
  padlock_program* program;
  padlock_kernel* kernel;
  EXPECT(parent.api.program_parse(parent.context, text, (size_t)size, &program, NULL) == PADLOCK_OK);
  const padlock_status status = parent.api.program_compile(program, NULL, &kernel, NULL);
  parent.api.kernel_release(kernel);
  parent.api.program_release(program);
  return status;
}

static void* compiles(void* unused) {
  while (!atomic_load(&parent.stops)) EXPECT(compile_another() == PADLOCK_OK);
  return unused;
}

static void* launches(void* unused) {
  while (!atomic_load(&parent.stops)) launch(&parent.api, &parent.session, 1 << 18);
  return unused;
}

/* In a child: its parent's context and kernel, and a context of its own. One that hangs dies of SIGALRM. */
static void be_child(void) {
  alarm(60);
  launch(&parent.api, &parent.session, 1 << 18);
  EXPECT(compile_another() == PADLOCK_OK);
  struct session own = begin(&parent.api);
  launch(&parent.api, &own, 1 << 18);
  end(&parent.api, &own);
  end(&parent.api, &parent.session);
  parent.api.context_release(parent.context);
  _exit(0);
}

static void forks(const char* library, int times) {
  load(library, &parent.api);
  parent.session = begin(&parent.api);
  EXPECT(parent.api.context_create(NULL, &parent.context, NULL) == PADLOCK_OK);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) EXPECT(pthread_create(&threads[i], NULL, i < 2 ? compiles : launches, NULL) == 0);
  for (int i = 0; i < times; ++i) {
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) be_child();
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(status == 0);
  }
  atomic_store(&parent.stops, 1);
  for (int i = 0; i < 4; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  end(&parent.api, &parent.session);
  parent.api.context_release(parent.context);
}

/* Loads ./libpadlock.so by that name, goes to a folder, and tunes there: which worker starts is for who looks. */
static void moved(const char* folder) {
  struct functions api;
  load("./libpadlock.so", &api);
  EXPECT(chdir(folder) == 0);
  padlock_context_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.cache_mode = PADLOCK_CACHE_READ_WRITE;
  options.cache_file = "tuning.db";
  padlock_context* context;
  padlock_program* program;
  padlock_tuner* tuner;
  EXPECT(api.context_create(&options, &context, NULL) == PADLOCK_OK);
  EXPECT(api.program_parse(context, kProgram, sizeof kProgram - 1, &program, NULL) == PADLOCK_OK);
  EXPECT(api.tuner_create(program, NULL, &tuner, NULL) == PADLOCK_OK);
  EXPECT(api.tuner_run(tuner, NULL) == PADLOCK_UNAVAILABLE); /* a worker that says nothing, or none */
  api.tuner_release(tuner);
  api.program_release(program);
  api.context_release(context);
}

int main(int argc, char** argv) {
  EXPECT(argc >= 3);
  const char* const mode = argv[1];
  if (strcmp(mode, "reload") == 0) {
    EXPECT(argc == 4);
    reload(argv[2], atoi(argv[3]));
  } else if (strcmp(mode, "two") == 0) {
    EXPECT(argc == 4);
    two(argv[2], argv[3]);
  } else if (strcmp(mode, "fork") == 0) {
    after_fork(argv[2]);
  } else if (strcmp(mode, "forks") == 0) {
    EXPECT(argc == 4);
    forks(argv[2], atoi(argv[3]));
  } else if (strcmp(mode, "moved") == 0) {
    moved(argv[2]);
  } else if (strcmp(mode, "after") == 0) {
    EXPECT(argc == 4);
    EXPECT(dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) != NULL);
    reload(argv[3], 1);
  } else {
    EXPECT(0);
  }
  return 0;
}
