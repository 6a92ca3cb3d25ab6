/* serve.cpp - models in C++17: a thin wrapper with std::string ids, std::vector results and
 * exceptions, and a program that uses it.
 *
 *   c++ -std=c++17 -I include examples/serve.cpp -loltr -pthread -o serve && ./serve
 *
 * The wrapper owns the model and a lock: any number of threads may rank while one learns.  It has
 * the calls that this program needs; the others of model.h are added in the same way.
 *
 * The program is a news page.  Articles begin with a prior of an offline model, which is wrong
 * about most of the good ones.  An edge server learns into a model of its own and sends what it
 * has learned as bytes.
 */
#include <oltr/model.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// ---- the wrapper

class Error : public std::runtime_error
{
  public:
    explicit Error(const oltr_error &error) : std::runtime_error(error.msg), code(error.code)
    {
    }
    const oltr_status code;
};

class Model
{
  public:
    using Options = std::vector<std::pair<std::string, std::string>>;
    struct Prior {
        std::string name;
        double a, b;
    };

    explicit Model(const std::string &kind, const Options &options = {})
    {
        oltr_model_settings settings;
        check([&](oltr_error *e) { return oltr_model_settings_init(&settings, kind.c_str(), e); });
        for (const auto &option : options)
            check([&](oltr_error *e) {
                return oltr_model_settings_set(&settings, option.first.c_str(),
                                               option.second.c_str(), e);
            });
        oltr_error error{};
        own_.reset(oltr_model_new(&settings, &error));
        if (!own_)
            throw Error(error);
    }

    // From what image() returned, here or on another machine.
    static Model load(const std::string &image)
    {
        oltr_error error{};
        Owned model(oltr_model_load(image.data(), image.size(), nullptr, nullptr, &error));
        if (!model)
            throw Error(error);
        return Model(std::move(model));
    }

    std::string image() const
    {
        std::shared_lock lock(*mutex_);
        std::string bytes(oltr_model_save_bound(own_.get()), '\0');
        size_t used = 0;
        check([&](oltr_error *) {
            return oltr_model_save(own_.get(), bytes.data(), bytes.size(), &used);
        });
        bytes.resize(used);
        return bytes;
    }

    // The k best candidates, best first.
    std::vector<std::string> rank(const std::vector<std::string> &candidates, uint32_t k,
                                  const std::string &seed) const
    {
        const auto names = names_of(candidates);
        const oltr_list list = list_of(names);
        std::vector<uint32_t> place(k);
        oltr_show show{};
        show.k = k;
        show.place = place.data();
        {
            std::shared_lock lock(*mutex_);
            check([&](oltr_error *e) {
                return oltr_model_rank(own_.get(), &list, oltr_rng_text(seed.data(), seed.size()),
                                       scratch(), &show, e);
            });
        }
        std::vector<std::string> best;
        for (uint32_t slot = 0; slot < show.k; slot++)
            best.push_back(candidates[place[slot]]);
        return best;
    }

    // Whether the lesson is new; false for an id that was seen before.
    bool learn(const std::vector<std::string> &shown, const std::vector<double> &reward,
               const std::string &id)
    {
        if (reward.size() != shown.size())
            throw std::invalid_argument("a reward for each shown item is needed");
        const auto names = names_of(shown);
        oltr_lesson lesson{};
        lesson.shown = list_of(names);
        lesson.reward = reward.data();
        lesson.id = name_of(id);
        int applied = 0;
        std::unique_lock lock(*mutex_);
        check([&](oltr_error *e) { return oltr_model_learn(own_.get(), &lesson, &applied, e); });
        return applied != 0;
    }

    void prior(const std::vector<Prior> &priors)
    {
        std::vector<oltr_name> names;
        std::vector<double> pairs;
        for (const Prior &p : priors) {
            names.push_back(name_of(p.name));
            pairs.insert(pairs.end(), {p.a, p.b});
        }
        std::unique_lock lock(*mutex_);
        check([&](oltr_error *e) {
            return oltr_model_prior(own_.get(), names.data(), pairs.data(),
                                    static_cast<uint32_t>(names.size()), e);
        });
    }

    // Adds what another model has learned; false for an id that was seen before.
    bool merge(const Model &from, const std::string &id)
    {
        int applied = 0;
        std::scoped_lock lock(*mutex_, *from.mutex_);
        check([&](oltr_error *e) {
            return oltr_model_merge(own_.get(), from.own_.get(), name_of(id), &applied, e);
        });
        return applied != 0;
    }

    oltr_explained explain(const std::string &item) const
    {
        const std::vector<oltr_name> names{name_of(item)};
        const oltr_list list = list_of(names);
        oltr_explained out{};
        std::shared_lock lock(*mutex_);
        check([&](oltr_error *e) { return oltr_model_explain(own_.get(), &list, &out, e); });
        return out;
    }

    uint64_t lessons() const
    {
        std::shared_lock lock(*mutex_);
        return oltr_model_lessons(own_.get());
    }

  private:
    struct Free {
        void operator()(oltr_model *model) const
        {
            oltr_model_free(model);
        }
        void operator()(oltr_model_scratch *scratch) const
        {
            oltr_model_scratch_free(scratch);
        }
    };
    using Owned = std::unique_ptr<oltr_model, Free>;

    explicit Model(Owned model) : own_(std::move(model))
    {
    }

    template <class Call> static void check(Call call)
    {
        oltr_error error{};
        const oltr_status status = call(&error);
        if (status == OLTR_OK)
            return;
        if (error.code == OLTR_OK) { // a call without sentences
            error.code = status;
            std::snprintf(error.msg, sizeof error.msg, "%s", oltr_strerror(status));
        }
        throw Error(error);
    }

    static oltr_name name_of(const std::string &text)
    {
        return {text.data(), static_cast<uint32_t>(text.size())};
    }

    static std::vector<oltr_name> names_of(const std::vector<std::string> &texts)
    {
        std::vector<oltr_name> names;
        for (const std::string &text : texts)
            names.push_back(name_of(text));
        return names;
    }

    static oltr_list list_of(const std::vector<oltr_name> &names)
    {
        oltr_list list{};
        list.n = static_cast<uint32_t>(names.size());
        list.name = names.data();
        return list;
    }

    // One for each thread; it serves all models.
    static oltr_model_scratch *scratch()
    {
        thread_local std::unique_ptr<oltr_model_scratch, Free> own(oltr_model_scratch_new(nullptr));
        return own.get();
    }

    Owned own_;
    std::unique_ptr<std::shared_mutex> mutex_ = std::make_unique<std::shared_mutex>();
};

// ---- the page

namespace
{

constexpr uint32_t articles = 100, slots = 5;

bool is_good(const std::string &article)
{
    return article.back() == '3'; // ten of a hundred
}

std::vector<std::string> all_articles()
{
    std::vector<std::string> names;
    for (uint32_t i = 0; i < articles; i++)
        names.push_back("article-" + std::to_string(i));
    return names;
}

// What an offline model expects: it knows three of the good articles, and three others are called
// good.  Each prior is as sure as 40 observations.
std::vector<Model::Prior> offline_scores(const std::vector<std::string> &names)
{
    std::vector<Model::Prior> priors;
    for (uint32_t i = 0; i < names.size(); i++) {
        const bool promising = i < 30 && (is_good(names[i]) || i % 10 == 4);
        const double rate = promising ? 0.12 : 0.03;
        priors.push_back({names[i], 40 * rate, 40 * (1 - rate)});
    }
    return priors;
}

std::vector<double> watch_user(const std::vector<std::string> &shown, uint64_t request)
{
    oltr_rng user = oltr_rng_at(oltr_rng_make(11, 0), 1, request);
    std::vector<double> click(shown.size());
    for (size_t slot = 0; slot < shown.size(); slot++)
        if (oltr_rng_uniform(&user) < (is_good(shown[slot]) ? 0.15 : 0.02)) {
            click[slot] = 1;
            break; // the model has the rule of the cascade: what is behind a click was not seen
        }
    return click;
}

// Serves requests and returns how many of the shown articles were good ones, on average.
double serve(const Model &ranks, Model &learns, const std::vector<std::string> &names,
             const std::string &server, uint64_t first, uint64_t requests)
{
    double good = 0;
    for (uint64_t request = first; request < first + requests; request++) {
        const std::string page = server + " page " + std::to_string(request);
        const auto shown = ranks.rank(names, slots, page);
        learns.learn(shown, watch_user(shown, request), page);
        for (const std::string &article : shown)
            good += is_good(article);
    }
    return good / static_cast<double>(requests);
}

void run()
{
    const auto names = all_articles();
    const Model::Options options{{"default_prior", "1.2,38.8"}, {"prior", "full"}};
    Model model("ts-hyper", options);
    model.prior(offline_scores(names));
    std::printf("first requests: %.1f of %u shown articles were good ones\n",
                serve(model, model, names, "main", 0, 200), slots);

    // An edge ranks with a copy of the model, and learns into an empty one.
    const Model copy = Model::load(model.image());
    Model delta("ts-hyper", options);
    serve(copy, delta, names, "edge", 100000, 4000);
    const Model arrived = Model::load(delta.image());
    const bool first = model.merge(arrived, "edge 1"), second = model.merge(arrived, "edge 1");
    std::printf("the edge sent its lessons twice: %d + %d merged, %llu lessons\n", first, second,
                static_cast<unsigned long long>(model.lessons()));

    const oltr_explained why = model.explain("article-93");
    std::printf("article-93: expected %.3f, now %.3f after %.0f observations\n", why.prior_mean,
                why.mean, why.examined);
    try {
        model.learn({"article-1", "article-1"}, {0, 1}, "a bad page");
    } catch (const Error &error) {
        std::printf("%s: %s\n", oltr_status_name(error.code), error.what());
    }
    std::printf("later requests: %.1f of %u shown articles were good ones\n",
                serve(model, model, names, "main", 200000, 1000), slots);
}

} // namespace

int main()
{
    try {
        run();
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "serve: %s\n", error.what());
        return 1;
    }
}
